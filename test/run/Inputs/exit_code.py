"""Runs a command and prints what it says and its exit code."""
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      check=False)
print(done.stdout.strip())
print("exit code:", done.returncode)
