"""Starts a command, interrupts it after its first line, and prints how it ended."""
# SPDX-License-Identifier: Apache-2.0
import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
print("first line:", process.stdout.readline().strip())
process.send_signal(signal.SIGINT)
_, errors = process.communicate(timeout=120)
print("exit code:", process.returncode)
print("says:", errors.strip())
