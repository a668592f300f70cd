"""Measures how long planning takes: a model with 1,000 variables for 2 trainers and for 10,000, and
one step of it simulated. Called by `./dev bench plan`.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import tempfile
import time

LAYERS = 250  # of four variables each: two parameters with their momentum


def model():
    """A chain of small layers over batches of data."""
    lines = ["import io, optim", 'data points = io.csv("points.csv", batch: 64)']
    lines += [f"param w{i}: f32[4, 4] = 0.1\nparam b{i}: f32[4] = 0" for i in range(LAYERS)]
    lines += ["for x0 in points {"]
    lines += [f"    let x{i + 1} = tanh(matmul(x{i}, w{i}) + b{i})" for i in range(LAYERS)]
    lines += [f"    minimize mean(x{LAYERS} * x{LAYERS}) with optim.momentum(lr: 0.1)",
              "}", ""]
    return "\n".join(lines)


def seconds_of(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def report(program, rounds):
    cases = [("check alone", ["check"]),
             ("plan, 2 trainers", ["plan", "--trainers=2", "--servers=4"]),
             ("plan, 10,000 trainers", ["plan", "--trainers=10000", "--servers=4"]),
             ("simulate, 2 trainers", ["plan", "--trainers=2", "--servers=4", "--simulate"]),
             ("simulate, 10,000 trainers",
              ["plan", "--trainers=10000", "--servers=4", "--simulate"])]
    print(f"{4 * LAYERS} variables{'':<24} {'seconds: min':>12} {'median':>8} {'max':>8}")
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "model.pdg")
        with open(script, "w", encoding="utf-8") as file:
            file.write(model())
        with open(os.path.join(folder, "points.csv"), "w", encoding="utf-8") as file:
            file.write("a,b,c,d\n1,2,3,4\n")
        for name, command in cases:
            times = sorted(seconds_of([program, command[0], script, *command[1:]])
                           for _ in range(rounds))
            print(f"{name:<38} {times[0]:>12.2f} {times[rounds // 2]:>8.2f} {times[-1]:>8.2f}")
