"""Starts a job, sends a signal to one of its processes after its first line, and prints how the
job ended and what is left of it.

    job_fault.py SIGNAL WHO COMMAND...

WHO is pdc, or the number of a process in the order in which they are started: trainers, then
servers.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import subprocess
import sys
import time

name, who, *command = sys.argv[1:]
SHARED = pathlib.Path("/dev/shm")


def children_of(process):
    """The processes that any thread of a process started, in order."""
    numbers = []
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        numbers += map(int, (task / "children").read_text().split())
    return sorted(numbers)


def lives(process):
    """Whether a process is there and more than an exit code that nobody has asked for."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


before = set(SHARED.iterdir())
job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
print("first line:", job.stdout.readline().strip())
members = children_of(job.pid)
began = time.monotonic()
os.kill(job.pid if who == "pdc" else members[int(who)], signal.Signals[name])
try:
    _, errors = job.communicate(timeout=60)
except subprocess.TimeoutExpired:
    job.kill()
    sys.exit("the job hangs")
took = time.monotonic() - began
# The system ends what a killed leader leaves, in its own time.
while any(map(lives, members)) and time.monotonic() - began < took + 1:
    pass
print("exit code:", job.returncode)
print("says:", errors.strip().replace(str(job.pid), "PDC"))
print("ended", "at once" if took < 2 else "in time" if took < 8 else f"after {took:.1f} s")
print("left:", *[member for member in members if lives(member)],
      *[file for file in set(SHARED.iterdir()) - before if "pdg" in file.name])
