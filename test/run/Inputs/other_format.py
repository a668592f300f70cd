"""Copies a module and changes the number of its format, the first field of its manifest.

    other_format.py FROM.pdm TO.pdm
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

module = bytearray(pathlib.Path(sys.argv[1]).read_bytes())
# The manifest is the first field of the file, behind eight bytes, a tag and its length.
place = 9
while module[place] & 0x80:
    place += 1
assert module[place + 1] == 0x08, "no format"
module[place + 2] += 1
pathlib.Path(sys.argv[2]).write_bytes(module)
