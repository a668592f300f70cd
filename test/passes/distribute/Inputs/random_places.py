# Puts the ops of a placed program at random places and checks that nothing changes: the roles fit,
# joined they are the graph that was cut, and they run with the bits of the plain run.
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import random
import re
import subprocess

NORMAL = ["--pdg-normalize", "--canonicalize", "--cse", "--pdg-normalize"]
# What has effects stays where it is, and so does what differs among trainers (`pdg.sharding`).
FIXED = re.compile(r"pdg\.(read|assign|print|fetch|assert|for_each|replica|all_|input|source_size)")


def call(program, arguments, text=None):
    done = subprocess.run([program] + arguments, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.returncode}\n{done.stderr}")
    return done.stdout


def move(text, draw, servers):
    """The program with other places."""
    places = ["#pdg.role<trainer>", "#pdg.role<anywhere>", "#pdg.role<server>"]
    places += [f"#pdg.role<server, {k}>" for k in range(1, servers)]
    lines = []
    for line in text.split("\n"):
        if "pdg.places = [" in line or (
            "pdg.sharding" not in line and not FIXED.search(line) and "pdg.place = " in line
        ):
            line = re.sub(r"#pdg\.role<[^>]*>", lambda _: draw.choice(places), line)
        lines.append(line)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("script")
    parser.add_argument("--pdc", required=True)
    parser.add_argument("--opt", required=True)
    parser.add_argument("--trainers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--cases", type=int, default=10)
    options = parser.parse_args()
    plain = call(options.pdc, ["run", "--quiet", options.script])
    cluster = f"#pdg.cluster<trainers = {options.trainers}, servers = {options.servers}>"
    graph = call(options.pdc, ["emit", options.script, "--stage=grad"])
    graph = graph.replace("module {", "module attributes {pdg.cluster = " + cluster + "} {", 1)
    split = [f"--pdg-split-batch=trainers={options.trainers}"]
    placed = call(
        options.opt,
        ["--pdg-simplify-sizes", "--pdg-forward-variables"]
        + split
        + ["--canonicalize", "--cse", "--pdg-propagate-shardings", "--pdg-place-variables"],
        graph,
    )
    whole = call(options.opt, NORMAL, placed)
    roles_file = os.path.splitext(options.script)[0] + ".roles.mlir"
    run = ["run", "--quiet", f"--trainers={options.trainers}", f"--servers={options.servers}"]
    for seed in range(options.cases):
        moved = move(placed, random.Random(seed), options.servers)
        cut = ["--pdg-insert-send-recv", "--pdg-split-roles", "--pdg-schedule-transfers"]
        roles = call(options.opt, cut + ["--pdg-coalesce-transfers", "--pdg-check-cluster"], moved)
        if call(options.opt, ["--pdg-join-roles"] + NORMAL, roles) != whole:
            raise SystemExit(f"seed {seed}: the roles joined are another graph")
        with open(roles_file, "w") as file:
            file.write(roles)
        if call(options.pdc, run + ["--interpret", roles_file]) != plain:
            raise SystemExit(f"seed {seed}: other results than in one process")
    if call(options.pdc, run + [roles_file]) != plain:
        raise SystemExit("native code gives other results than the interpreter")
    print(f"{options.cases} cases")


main()
