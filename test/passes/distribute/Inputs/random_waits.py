"""Makes programs of roles that send and receive in random orders, and compares what
pdg-check-cluster says of them with what happens when they run.

    random_waits.py --pdc PDC --pdc-opt PDC_OPT --folder DIR --seed N --count N
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import random
import subprocess
import sys

ROLES = [("trainer", "<trainer>"), ("server_0", "<server>"), ("server_1", "<server, 1>")]
ROUNDS = 5  # more than queues hold messages


def statements(rng, role, edges, part):
    """What a role sends and receives in a part of the program, in a random order."""
    lines = []
    for i, (source, target, where) in enumerate(edges):
        if where == part and source == role:
            lines.append(f"pdg.send %one, #e{i} : tensor<f32>")
        if where == part and target == role:
            lines.append(f"%x{i} = pdg.recv #e{i} to [] : tensor<f32>")
    rng.shuffle(lines)
    return lines


def role_module(rng, role, edges):
    name, attribute = ROLES[role]
    listed = ", ".join(f"#e{i}" for i in range(len(edges)))
    body = statements(rng, role, edges, "loop")
    loop = ["pdg.for %zero to %rounds {", "^bb0(%i: tensor<i64>):", *body, "pdg.yield",
            "} {pdg.region = 0 : i64}"] if body else []
    parts = [loop, statements(rng, role, edges, "behind")]
    if rng.random() < 0.3:
        parts.reverse()  # another order than in the other roles
    lines = [f"module @{name} attributes {{pdg.role = #pdg.role{attribute}, pdg.edges = [{listed}]}} {{",
             "pdg.program {", "%one = pdg.constant dense<1.0> : tensor<f32>",
             "%zero = pdg.constant dense<0> : tensor<i64>",
             f"%rounds = pdg.constant dense<{ROUNDS}> : tensor<i64>",
             *statements(rng, role, edges, "first"), *parts[0], *parts[1], "pdg.yield", "}", "}"]
    return lines


def cluster(seed):
    rng = random.Random(seed)
    edges = []
    for _ in range(rng.randint(2, 5)):
        edges.append((*rng.sample(range(3), 2), rng.choice(["first", "loop", "loop", "behind"])))
    lines = []
    for i, (source, target, _) in enumerate(edges):
        first = ", first = true" if source == 0 else ""
        lines.append(f'#e{i} = #pdg.edge<subject = <"e{i}">, kind = value, '
                     f"from = {ROLES[source][1]}, to = {ROLES[target][1]}{first}>")
    lines.append("module attributes {pdg.cluster = #pdg.cluster<trainers = 1, servers = 2>} {")
    for role in range(3):
        lines += role_module(rng, role, edges)
    return "\n".join([*lines, "}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name in ("--pdc", "--pdc-opt", "--folder"):
        parser.add_argument(name, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    path = os.path.join(options.folder, "roles.mlir")
    refused = 0
    for seed in range(options.seed, options.seed + options.count):
        with open(path, "w", encoding="utf-8") as file:
            file.write(cluster(seed))
        check = subprocess.run([options.pdc_opt, path, "--pdg-check-cluster", "-o", os.devnull],
                               capture_output=True, text=True, check=False)
        run = subprocess.run([options.pdc, "run", path, "--trainers=1", "--servers=2",
                              "--interpret", "--in-process"],
                             capture_output=True, text=True, check=False, timeout=60)
        hangs = "all processes wait for each other" in run.stderr
        if (check.returncode != 0) != hangs or (run.returncode != 0) != hangs:
            print(f"seed {seed}: {check.stderr or 'accepted'}\n{run.stderr or 'runs'}")
            return 1
        refused += hangs
    print(f"{options.count} programs, {refused} of them refused")
    return 0 if 0 < refused < options.count else 1


if __name__ == "__main__":
    sys.exit(main())
