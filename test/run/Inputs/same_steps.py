"""Prints whether all states named `t`, the steps of optimizers, in an .npz file are equal.

    same_steps.py FILE.npz
"""
# SPDX-License-Identifier: Apache-2.0
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    steps = [archive.read(name) for name in archive.namelist() if name.endswith(".t.npy")]
print(len(steps), "equal" if len(set(steps)) == 1 else "different")
