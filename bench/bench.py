"""Measures training steps of ours beside PyTorch's and JAX's, in turns, in one run, how long compiling
takes, and how fast tensors go from process to process.

Called by `./dev bench [w2] [w3] [compile] [plan] [transport]`. With --peers, PyTorch and JAX are installed from PyPI into a virtual
environment in the build folder; once there, they take part in every run.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import compile_time
import plan_time
import transport
import workloads

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(HERE), "build")
VENV = os.path.join(BUILD, "bench-venv")
CHECKED_STEPS = 10  # after so many steps the losses of all contenders are compared
LOSS_TOLERANCE = 1e-3


class Failed(Exception):
    """A contender that cannot be measured, with the reason."""


class Peer:
    """A framework in a process of its own that waits to be told how many steps to do."""

    def __init__(self, name, script, workload, threads):
        self.name = name
        self.process = subprocess.Popen(
            [os.path.join(VENV, "bin", "python"), os.path.join(HERE, "peers", script), workload,
             str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.version = self.answer()["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(self.process.stderr.read().strip()[-500:] or "it ended")
        return json.loads(line)

    def ask(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return self.answer()

    def first_loss(self):
        return self.ask(CHECKED_STEPS)["loss"]

    def seconds_per_step(self, steps):
        return self.ask(steps)["seconds"] / steps

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


class Pdg:
    """Our compiler. A step's time is the difference between a long and a short run of the same
    program, so that starting, compiling and loading do not count."""

    name = "pdg"
    short_run = 100

    def __init__(self, workload, threads, folder):
        self.program = os.path.join(BUILD, "bin", "pdc")
        self.fetched = os.path.join(folder, "values.npz")
        images, labels = workloads.batches()
        start = os.path.join(folder, "initial.safetensors")
        workloads.write_safetensors(
            start, workloads.with_adam_states(workloads.weights(workload)))
        np.save(os.path.join(folder, "images.npy"), images)
        np.save(os.path.join(folder, "labels.npy"), labels)
        self.arguments = [os.path.join(HERE, f"{workload}.pdg"), "--quiet", "--threads", str(threads),
                          "--load", start, "--only", "net",
                          "--feed", f"images={folder}/images.npy",
                          "--feed", f"labels={folder}/labels.npy", "--fetch", self.fetched]
        text = subprocess.run([self.program, "--version"], capture_output=True, text=True)
        self.version = text.stdout.split()[1] if text.returncode == 0 else "?"

    def run(self, steps):
        command = [self.program, "run", *self.arguments, "--set", f"steps={steps}"]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            raise Failed(done.stderr.strip()[-500:] or f"exit code {done.returncode}")
        return seconds

    def first_loss(self):
        self.run(CHECKED_STEPS)
        with np.load(self.fetched) as values:
            return float(values["loss"])

    def seconds_per_step(self, steps):
        before = self.run(self.short_run)
        return (self.run(self.short_run + steps) - before) / steps

    def close(self):
        pass


def install_peers():
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
    print("bench: installing PyTorch and JAX (several GB, once)", file=sys.stderr)
    subprocess.run([python, "-m", "pip", "install", "-q", "torch", "jax", "numpy"], check=True)


def start_contenders(workload, threads, folder):
    contenders = []
    makers = [lambda: Pdg(workload, threads, folder)]
    if os.path.exists(os.path.join(VENV, "bin", "python")):
        makers += [lambda: Peer("PyTorch eager", "torch_eager.py", workload, threads),
                   lambda: Peer("JAX jit", "jax_jit.py", workload, threads)]
    for make in makers:
        contender = None
        try:
            contender = make()
            contender.loss = contender.first_loss()
            # A warm-up that also says how many steps fill a repetition.
            contender.estimate = contender.seconds_per_step(100)
            contender.estimate = contender.seconds_per_step(steps_in(contender, 0.5))
            contender.times = []
            contenders.append(contender)
        except (Failed, OSError, ValueError) as reason:
            print(f"bench: left out {contender.name if contender else 'a peer'}: {reason}",
                  file=sys.stderr)
    return contenders


def steps_in(contender, seconds):
    return max(50, int(seconds / max(contender.estimate, 1e-6)))


def measure(contenders, rounds, seconds):
    """Takes the contenders in turns, so that a slow spell of the machine meets all of them."""
    for number in range(rounds):
        for contender in contenders:
            contender.times.append(contender.seconds_per_step(steps_in(contender, seconds)))
        if sys.stderr.isatty():
            last = number + 1 == rounds
            text = "\r\033[K" if last else f"\rround {number + 1} of {rounds}"
            print(text, end="", file=sys.stderr, flush=True)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


def median(times):
    return float(np.median(times))


def report(workload, contenders, threads):
    print(f"{workloads.TITLES[workload]}, batch 64, Adam, f32, {threads} threads; {processor()}")
    print(f"{'':<16} {'version':<16} {'ms per step: min':>16} {'median':>8} {'max':>8} "
          f"{'GFLOP/s':>8} {'loss after 10':>14}")
    for c in contenders:
        low, mid, high = min(c.times) * 1e3, median(c.times) * 1e3, max(c.times) * 1e3
        print(f"{c.name:<16} {c.version:<16} {low:>16.3f} {mid:>8.3f} {high:>8.3f} "
              f"{workloads.mflop_per_step(workload) / mid:>8.0f} {c.loss:>14.6f}")
    ours = next((c for c in contenders if c.name == "pdg"), None)
    for peer in contenders:
        if ours and peer is not ours:
            ratios = [p / o for p, o in zip(peer.times, ours.times)]
            print(f"pdg is {median(ratios):.2f} times as fast as {peer.name} "
                  f"({min(ratios):.2f} to {max(ratios):.2f} over the rounds)")
            if abs(peer.loss - ours.loss) > LOSS_TOLERANCE * abs(peer.loss):
                print(f"warning: the losses of pdg and {peer.name} differ: not the same work")


def run(workload, options):
    with tempfile.TemporaryDirectory() as folder:
        contenders = start_contenders(workload, options.threads, folder)
        try:
            measure(contenders, options.rounds, options.seconds)
        finally:
            for contender in contenders:
                contender.close()
    if not contenders:
        sys.exit("bench: nothing could be measured")
    report(workload, contenders, options.threads)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="workload",
                        help="w2, w3, compile, plan, transport (default: all)")
    parser.add_argument("--peers", action="store_true", help="install PyTorch and JAX if needed")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="per repetition")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    known = [*workloads.LAYERS, "compile", "plan", "transport"]
    for workload in options.workloads:
        if workload not in known:
            parser.error(f"no workload '{workload}': there are {', '.join(known)}")
    if options.peers:
        install_peers()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    for workload in options.workloads or known:
        if workload == "compile":
            compile_time.report(os.path.join(BUILD, "bin", "pdc"), min(options.rounds, 5))
        elif workload == "plan":
            plan_time.report(os.path.join(BUILD, "bin", "pdc"), min(options.rounds, 5))
        elif workload == "transport":
            transport.report(os.path.join(BUILD, "bin", "pdg-transport-bench"), options.rounds)
        else:
            run(workload, options)


if __name__ == "__main__":
    main()
