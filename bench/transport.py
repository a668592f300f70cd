"""How fast tensors go from process to process, beside plain sockets, in turns, in one run."""
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import numpy as np

WAYS = {"tcp": "raw TCP", "unix": "raw Unix socket", "stream": "gRPC over TCP",
        "memory": "shared memory"}

# Name, title, rounds in one process, and how ours shall compare: (way, beside, at most this ratio).
MEASURES = [
    ("echo", "4 bytes there and back", 3000, [("stream", "tcp", 1.5)]),
    ("bulk", "100 MB one way", 15, [("stream", "tcp", 1.0), ("memory", "unix", 1 / 3)]),
    ("step", "parameter-server step, 203530 parameters, 0.5 ms of it work", 400,
     [("memory", "tcp", 0.9), ("stream", "tcp", 1.2)]),
]


def measure(program, name, way, rounds):
    done = subprocess.run([program, name, way, str(rounds)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {name} over {way}: {done.stderr.strip()}")
    return float(done.stdout.split()[0])


def spread(values):
    return f"{min(values):>10.2f} {np.median(values):>10.2f} {max(values):>10.2f}"


def report(program, rounds):
    """Prints a table per measure; a ratio is that of times of the same round."""
    for name, title, count, goals in MEASURES:
        times = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way in WAYS:
                times[way].append(measure(program, name, way, count))
        print(f"{title}: microseconds, medians of {rounds} processes each")
        print(f"{'':<18} {'min':>10} {'median':>10} {'max':>10}   {'GB/s' if name == 'bulk' else ''}")
        for way, title_of_way in WAYS.items():
            speed = f"{100e6 / np.median(times[way]) / 1e3:>7.1f}" if name == "bulk" else ""
            print(f"{title_of_way:<18} {spread(times[way])} {speed}")
        for way, beside, goal in goals:
            ratios = [ours / theirs for ours, theirs in zip(times[way], times[beside])]
            print(f"{WAYS[way]} takes {np.median(ratios):.2f} times as long as {WAYS[beside]} "
                  f"({min(ratios):.2f} to {max(ratios):.2f} over the rounds; goal: {goal:.2f})")
        print()
