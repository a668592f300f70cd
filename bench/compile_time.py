"""Measures how long compiling takes: generated scripts with many operations of many shapes, and one
with an error in every fourth line. Called by `./dev bench compile`.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import tempfile
import time


def chains(operations, shapes):
    """A script of `operations` operations over `shapes` different shapes: element-wise results,
    their transposes, joined ones, every fourth time a product, and sums of all."""
    lines, made, number = ["var total = 0.0"], 0, 0
    while made < operations:
        which = number % (shapes // 3)
        rows, columns = 70 + which % 40, 4 + which // 40
        lines += [f"let x{number} = full([{rows}, {columns}], 0.5)",
                  f"let y{number} = exp(transpose(x{number}))",
                  f"let z{number} = concat([y{number}, y{number}], axis: 0)",
                  f"total = total + sum(z{number})"]
        made += 6
        if number % 4 == 0:
            lines.append(f"total = total + sum(matmul(y{number}, x{number}))")
            made += 3
        number += 1
    return "\n".join(lines + ['print("{total}")', ""])


def mistakes(lines):
    """A script in which every fourth line adds tensors that do not fit."""
    text = []
    for number in range(lines // 4):
        text += [f"let a{number} = zeros([{number + 2}, 3])", f"let b{number} = exp(a{number}) * 2",
                 f"let c{number} = zeros([{number + 3}, 3])", f"print(b{number} + c{number})"]
    return "\n".join(text + [""])


CASES = [("1,000 operations, 450 shapes", chains(1000, 600), "run"),
         ("10,000 operations, 2,000 shapes", chains(10000, 2300), "run"),
         ("5,000 lines, 1,250 errors", mistakes(5000), "check")]


def seconds_of(program, command, script):
    """One run with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, PDG_CACHE=cache, XDG_CACHE_HOME=cache)
        start = time.perf_counter()
        subprocess.run([program, command, script], env=environment, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - start


def report(program, rounds):
    print(f"{'':<34} {'seconds: min':>12} {'median':>8} {'max':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text, command in CASES:
            script = os.path.join(folder, "script.pdg")
            with open(script, "w", encoding="utf-8") as file:
                file.write(text)
            times = sorted(seconds_of(program, command, script) for _ in range(rounds))
            print(f"{name:<34} {times[0]:>12.2f} {times[rounds // 2]:>8.2f} {times[-1]:>8.2f}")
