"""Runs the tests and counts them: unit tests, lit, the layout of the sources, the documents.

Called by `./dev test`. The last line of its output is `N passed, N failed, N skipped`, over
everything that ran; the exit status is 0 when nothing failed.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import concurrent.futures
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
LIT = "/usr/lib/llvm-22/bin/lit"
FAST_LIMIT = 60  # seconds for one lit test of the fast suite
MESSAGE_FUZZ_RUNS = 1000000  # some 20 seconds
FUZZ_RUNS = 20000  # inputs of the fuzz target in the slow suite: about four minutes
SHARD = 3  # seconds of one process of a unit test program: more are shared among several


class Count:
    """How many tests passed, failed and were skipped, and the names of those that failed."""

    def __init__(self, passed=0, failed=0, skipped=0, failures=()):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.failures = list(failures)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def one(name, ok, output=""):
    """The count of a single check; its output is shown when it failed."""
    if ok:
        return Count(passed=1)
    print(f"--- {name}\n{output.rstrip()}", flush=True)
    return Count(failed=1, failures=[name])


def run(command, limit=None, env=None):
    """Runs a command to its end; a time limit that is passed counts as exit status 124.

    The command gets a process group of its own, so that at the limit a build's compilers end too.
    """
    try:
        process = subprocess.Popen(command, cwd=ROOT, text=True, errors="replace",
                                   env={**os.environ, **(env or {})}, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
    except OSError as error:
        return 127, str(error)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return 124, output + f"\nstopped after {limit:.0f} s"
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGTERM)
        raise


# Unit tests

def unit_programs(build, slow):
    folder = os.path.join(build, "bin")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    names = [n for n in names if n.endswith("-tests") and n.endswith("-slow-tests") == slow]
    return [os.path.join(folder, n) for n in names]


def report_of(program, index=0, shards=1):
    """The file in which GoogleTest reports what one process of a program did."""
    part = f"-{index + 1}-of-{shards}" if shards > 1 else ""
    return os.path.join(BUILD, "test-results", f"{os.path.basename(program)}{part}.json")


def last_times():
    """Seconds that each unit test program took when all of its tests last ran."""
    try:
        with open(os.path.join(BUILD, "test-results", "times.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def run_unit(program, pattern=None, limit=300, env=None, index=0, shards=1):
    """Runs one GoogleTest program, or the `index`-th part of its tests. A crash counts as a failure
    beside what it reported. Gives the count and the seconds that its tests took."""
    report = report_of(program, index, shards)
    os.makedirs(os.path.dirname(report), exist_ok=True)
    if os.path.exists(report):
        os.remove(report)
    command = [program, "--gtest_brief=1", f"--gtest_output=json:{report}"]
    if pattern:
        command.append(f"--gtest_filter=*{pattern}*")
    env = dict(env or {})
    if shards > 1:
        env |= {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(index)}
    with tempfile.TemporaryDirectory() as folder:  # Tests write files of fixed names.
        status, output = run(command, limit, {**env, "TEST_TMPDIR": folder})
    count, seconds_taken = Count(), 0.0
    name = os.path.basename(program)
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            whole = json.load(file)
        seconds_taken = float(whole["time"].rstrip("s"))
        for suite in whole["testsuites"]:
            for test in suite["testsuite"]:
                if test["status"] != "RUN":
                    continue
                if test.get("failures"):
                    count.add(Count(failed=1, failures=[f"{name}: {suite['name']}.{test['name']}"]))
                elif test.get("result") == "SKIPPED":
                    count.add(Count(skipped=1))
                else:
                    count.add(Count(passed=1))
    if status != 0 and count.failed == 0:
        count.add(Count(failed=1, failures=[f"{name}: exit status {status}"]))
    if count.failed:
        print(f"--- {name}\n{output.rstrip()}", flush=True)
    return count, seconds_taken


def run_units(pattern, others=()):
    """Runs the unit test programs, the longest first, each as several processes that share its
    tests if it is long. `others` are more jobs, each a function that gives a count."""
    processors = os.cpu_count() or 1
    times = last_times()
    jobs = []
    for program in unit_programs(BUILD, slow=False):
        # One that never ran may be long.
        taken = times.get(os.path.basename(program), SHARD * processors)
        shards = 1 if pattern else min(4 * processors, max(1, math.ceil(taken / SHARD)))
        jobs += [(taken / shards, program, index, shards) for index in range(shards)]
    jobs.sort(key=lambda job: job[0], reverse=True)
    total, now = Count(), {}
    # Some tests wait for the end of other processes; one more fills their time.
    with concurrent.futures.ThreadPoolExecutor(processors + 1) as pool:
        parts = [pool.submit(run_unit, program, pattern, index=index, shards=shards)
                 for _, program, index, shards in jobs]
        rest = [pool.submit(other) for other in others]
        for (_, program, _, _), part in zip(jobs, parts):
            count, taken = part.result()
            total.add(count)
            name = os.path.basename(program)
            now[name] = now.get(name, 0) + taken
        for other in rest:
            total.add(other.result())
    if not pattern:
        with open(os.path.join(BUILD, "test-results", "times.json"), "w", encoding="utf-8") as file:
            json.dump(now, file)
    return total


# lit

def run_lit(paths, pattern=None, params=(), limit=FAST_LIMIT, build=BUILD):
    """Runs lit on the given files or folders of the test suite."""
    report = os.path.join(BUILD, "test-results", "lit.json")
    os.makedirs(os.path.dirname(report), exist_ok=True)
    if os.path.exists(report):
        os.remove(report)
    command = [LIT, "-q", "--output", report, "--allow-empty-runs"]
    if pattern:
        command += ["--filter", pattern]
    if has_psutil():
        command += ["--timeout", str(int(limit))]
    for param in params:
        command += ["--param", param]
    status, output = run(command + paths)
    count = Count()
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            tests = json.load(file)["tests"]
        for test in tests:
            code = test["code"]
            if code in ("PASS", "XFAIL", "FLAKYPASS"):
                count.passed += 1
            elif code in ("UNSUPPORTED", "SKIPPED"):
                count.skipped += 1
            elif code != "EXCLUDED":
                count.add(Count(failed=1, failures=[test["name"]]))
    if status != 0 and count.failed == 0:
        count.add(Count(failed=1, failures=[f"lit: exit status {status}"]))
    if count.failed:
        print(output.rstrip(), flush=True)
    return count


def has_psutil():
    return run(["/usr/bin/python3", "-c", "import psutil"])[0] == 0


def tests_requiring(feature):
    """The lit tests with `REQUIRES: <feature>`, as paths in the built test suite."""
    wanted = re.compile(rf"REQUIRES:.*\b{feature}\b")
    found = []
    for folder, _, names in os.walk(os.path.join(ROOT, "test")):
        for name in names:
            if name.endswith((".mlir", ".pdg", ".test")) and os.path.basename(folder) != "Inputs":
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    if wanted.search(file.read()):
                        found.append(os.path.relpath(path, ROOT))
    return sorted(found)


# The suites

def run_fast(options):
    total = Count()
    started = time.monotonic()

    def stage(title, count):
        nonlocal started
        now = time.monotonic()
        print(f"{title:<16} {count.line()}  ({now - started:.1f} s)", flush=True)
        started = now
        total.add(count)

    checks = [] if options.filter else [check_layout, check_documents]
    stage("build", one("build", options.built == 0, "see the messages above"))
    if options.built == 0:
        # The checks are short jobs of one thread: they fill what the unit tests leave free.
        stage("unit tests" if options.filter else "units, checks",
              run_units(options.filter, checks))
        stage("lit", run_lit([os.path.join(BUILD, "test")], options.filter))
    else:
        for check in checks:
            stage(check.__name__.replace("check_", ""), check())
    if not options.filter:
        print(run([sys.executable, os.path.join(ROOT, "tools", "size.py")])[1].rstrip())
    return total


def check_layout():
    status, output = run([os.path.join(ROOT, "dev"), "format", "--check"])
    hint = "\nlay the sources out with: ./dev format"
    return one("layout of the sources", status == 0, output + hint)


def check_documents():
    docs = os.path.join(ROOT, "tools", "docs.py")
    status, output = run([sys.executable, docs, "--check", f"--build={BUILD}"])
    return one("documents", status == 0, output)


def sanitizer_job(preset, targets):
    """Builds test programs with a sanitizer in a folder of its own, and runs them there."""

    def job(limit):
        folder = os.path.join(ROOT, f"build-{preset}")
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            status, output = run(["cmake", "--preset", preset], limit)
            if status != 0:
                return one(f"{preset}: configure", False, output[-3000:])
        status, output = run(["cmake", "--build", "--preset", preset, "--target", *targets], limit)
        if status != 0:
            return one(f"{preset}: build", False, output[-3000:])
        # LLVM's own libraries are not instrumented, so a container that crosses into them looks
        # overrun; and what they keep until the end of the process is not ours to free.
        env = {"ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
               "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:atexit_sleep_ms=0:suppressions="
                               f"{ROOT}/test/runtime/transport/tsan.supp"}
        total = Count()
        for name in targets:
            program = os.path.join(folder, "bin", name)
            total.add(run_unit(program, limit=limit, env=env)[0])
        return total

    return job


def seed_scripts(folder):
    """Copies every script of the tree, also those shown in pages, to a folder of seeds."""
    os.makedirs(folder, exist_ok=True)
    texts = []
    for above, names in ((a, n) for a, dirs, n in os.walk(ROOT) if not prune(dirs)):
        for name in names:
            if not name.endswith((".pdg", ".md")):
                continue
            with open(os.path.join(above, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
            texts += [text] if name.endswith(".pdg") else re.findall(r"```pdg\n(.*?)```", text, re.S)
    for number, text in enumerate(sorted(set(texts))):
        with open(os.path.join(folder, f"{number}.pdg"), "w", encoding="utf-8") as file:
            file.write(text)
    return len(texts)


def prune(folders):
    """Keeps a walk out of hidden folders and builds."""
    folders[:] = [f for f in folders if not f.startswith((".", "build"))]


def fuzz_job(target, runs, *arguments):
    """Builds a fuzz target and runs it: a fixed seed, a fixed count of inputs."""

    def job(limit):
        folder = os.path.join(ROOT, "build-fuzz")
        for command in (["cmake", "--preset", "fuzz"],
                        ["cmake", "--build", "--preset", "fuzz", "--target", target]):
            status, output = run(command, limit)
            if status != 0:
                return one(f"{target}: build", False, output[-3000:])
        seeds = os.path.join(folder, "seeds", target)
        found = os.path.join(folder, "found", target)
        for name in os.listdir(found) if os.path.isdir(found) else []:
            os.remove(os.path.join(found, name))  # each run starts from the same inputs
        os.makedirs(found, exist_ok=True)
        os.makedirs(seeds, exist_ok=True)
        if target == "frontend-fuzz":
            seed_scripts(seeds)
        env = {"ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0:allow_user_poisoning=0",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
        command = [os.path.join(folder, "bin", target), "-seed=1", f"-runs={runs}",
                   "-timeout=20", "-rss_limit_mb=4096", "-verbosity=0",
                   f"-max_total_time={max(1, int(limit) - 60)}", f"-artifact_prefix={folder}/",
                   *arguments, found, seeds]
        status, output = run(command, limit, env)
        return one(target, status == 0, output[-6000:])

    return job


def slow_jobs():
    """Every slow job by name: a function from the seconds that are left to its count."""
    jobs = {}
    for path in tests_requiring("slow"):
        built = os.path.join(BUILD, path)
        jobs[path] = lambda limit, built=built: run_lit([built], params=["slow=1"], limit=limit)
    for program in unit_programs(BUILD, slow=True):
        jobs[os.path.basename(program)] = lambda limit, p=program: run_unit(p, limit=limit)[0]
    # What reads foreign input. The other programs run code that LLVM makes at run time, without
    # what the sanitizers expect before a function.
    jobs["unit tests with asan"] = sanitizer_job("asan", ["pdg-runtime-tests", "pdg-transport-tests",
                                                          "pdg-frontend-tests"])
    jobs["fuzz of the front end"] = fuzz_job(
        "frontend-fuzz", FUZZ_RUNS, "-max_len=4096",
        "-dict=" + os.path.join(ROOT, "test", "fuzz", "pdg.dict"))
    jobs["fuzz of messages"] = fuzz_job("transport-fuzz", MESSAGE_FUZZ_RUNS, "-max_len=512")
    # Threads of ours are in the runtime only; LLVM's, not instrumented, would be reported wrongly.
    jobs["runtime's unit tests with tsan"] = sanitizer_job("tsan", ["pdg-runtime-tests",
                                                                   "pdg-transport-tests",
                                                                   "pdg-job-tests"])
    return jobs


def run_slow(options):
    """The slow jobs, shuffled by the seed, each started only while there is budget left."""
    if options.built != 0:
        return one("build", False, "see the messages above")
    jobs = slow_jobs()
    names = sorted(jobs)
    random.Random(options.seed).shuffle(names)
    print(f"{len(names)} slow jobs, seed {options.seed}, budget {options.budget / 60:.0f} min")
    end = time.monotonic() + options.budget
    total, left_out = Count(), []
    for name in names:
        left = end - time.monotonic()
        if left < 10 or (options.filter and options.filter not in name):
            left_out.append(name)
            continue
        started = time.monotonic()
        count = jobs[name](left)
        if count.failed and time.monotonic() > end - 1:
            left_out.append(f"{name} (stopped at the end of the budget)")
            continue
        print(f"{name:<40} {count.line()}  ({time.monotonic() - started:.1f} s)", flush=True)
        total.add(count)
    for name in left_out:
        print(f"did not run: {name}")
    total.skipped += len(left_out)
    return total


def run_gpu(options):
    if options.built != 0:
        return one("build", False, "see the messages above")
    paths = [os.path.join(BUILD, p) for p in tests_requiring("gpu")]
    return run_lit(paths, options.filter, ["gpu=1"], 300) if paths else Count()


def seconds(text):
    match = re.fullmatch(r"(\d+)(s|m|h)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"expects a duration such as 90s, 40m or 2h, got '{text}'")
    return int(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2] or "s"]


def seed_of_commit():
    """The first digits of the commit, so that the order changes with the sources."""
    status, output = run(["git", "rev-parse", "--short=8", "HEAD"])
    return int(output.strip(), 16) if status == 0 else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("filter", nargs="?", help="run only tests whose name contains this")
    parser.add_argument("--slow", action="store_true", help="run the slow tests instead")
    parser.add_argument("--gpu", action="store_true", help="run the tests that need a device")
    parser.add_argument("--budget", type=seconds, default=40 * 60, help="time for --slow: 40m")
    parser.add_argument("--seed", type=int, default=None, help="order of --slow; default: commit")
    parser.add_argument("--built", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seed is None:
        options.seed = seed_of_commit()
    suite = run_slow if options.slow else run_gpu if options.gpu else run_fast
    total = suite(options)
    for failure in total.failures:
        print(f"failed: {failure}")
    print(total.line(), flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
