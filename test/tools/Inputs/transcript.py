# Types the console blocks of a document into sessions and compares the answers.
# usage: transcript.py DOCUMENT COMMAND...
# A line "3> text" or ".> text" is typed, the others are what is answered.
# SPDX-License-Identifier: Apache-2.0
import difflib
import re
import subprocess
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = re.findall(r"^```console\n(.*?)^```$", file.read(), re.M | re.S)
    for block in blocks:
        lines = block.splitlines()
        typed = [re.match(r"(?:\d+|\.)> (.*)", line) for line in lines]
        entries = "".join(match[1] + "\n" for match in typed if match)
        wanted = [line for line, match in zip(lines, typed) if not match]
        run = subprocess.run(sys.argv[2:], input=entries, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        got = [line for line in run.stdout.splitlines() if line]
        if got != wanted:
            sys.exit("\n".join(difflib.unified_diff(wanted, got, "document", "session")))
    print(f"{len(blocks)} sessions agree")


main()
