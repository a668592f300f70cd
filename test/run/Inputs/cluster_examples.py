"""Runs an example on clusters of several sizes and compares its output, fetched values and saved
variables with one process that computes as many slices.

    cluster_examples.py PDC SCRIPT FOLDER [--in-process] [--set NAME=VALUE]...
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import sys

pdc, script, folder, *options = sys.argv[1:]


def run(*more):
    """What a run printed, and what is in its files; some scripts fetch nothing."""
    files = [pathlib.Path(folder, name) for name in ("values.npz", "variables.safetensors")]
    for file in files:
        file.unlink(missing_ok=True)
    command = [pdc, "run", "--quiet", script, *options, *more, "--fetch", files[0], "--save",
               files[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{done.stderr}")
    return [done.stdout] + [file.exists() and file.read_bytes() for file in files]


for trainers in range(1, 5):
    plain = run("--replicas", str(trainers))
    for servers in range(1, 4):
        cut = run("--trainers", str(trainers), "--servers", str(servers))
        for what, expected, found in zip(("output", "fetched values", "variables"), plain, cut):
            if expected != found:
                sys.exit(f"{trainers} trainers, {servers} servers: other {what}")
    if trainers > 1 and run("--trainers", str(trainers), "--mode", "all-reduce") != plain:
        sys.exit(f"{trainers} trainers with all-reduce differ")
print("all agree")
