"""Runs an example on clusters of several sizes and compares its output, fetched values and saved
variables with one process that computes as many slices.

    cluster_examples.py PDC SCRIPT FOLDER [--set NAME=VALUE]...
"""
# SPDX-License-Identifier: Apache-2.0
import filecmp
import subprocess
import sys

pdc, script, folder, *options = sys.argv[1:]


def run(name, *more):
    """What a run printed, with its files' names."""
    files = [f"{folder}/{name}.npz", f"{folder}/{name}.safetensors"]
    command = [pdc, "run", "--quiet", script, *options, *more, "--fetch", files[0], "--save",
               files[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} fails:\n{done.stderr}")
    return done.stdout, files


for trainers in range(1, 5):
    plain, plain_files = run("plain", "--replicas", str(trainers))
    for servers in range(1, 4):
        cut, cut_files = run("cut", "--trainers", str(trainers), "--servers", str(servers),
                             "--in-process")
        if cut != plain:
            sys.exit(f"{trainers} trainers, {servers} servers print\n{cut}expected\n{plain}")
        for expected, found in zip(plain_files, cut_files):
            if not filecmp.cmp(expected, found, shallow=False):
                sys.exit(f"{trainers} trainers, {servers} servers: {found} differs")
print("all agree")
