"""Runs the programs that documents show, interpreted and native, and compares what they print.

    docs_programs.py --pdc build/bin/pdc FILE...

Fenced blocks of Markdown files, and of `##` comments of .pdg files, are meant by their first line:

    ```pdg                     runs; both ways must print the same
    ```pdg error=PD0101        must fail with this code, when compiling or running
    ```pdg check               is only compiled (it trains for long, or needs data)
    ```pdg plan                is planned for a cluster; with `error=` that must fail
    ```pdg file=name.pdg       is written to a file that later programs of the document find
    ```csv file=points.csv     the same for other files
    ```toml file=cluster.toml  a cluster, for `args="--cluster cluster.toml"`
    ```output                  what the program above it prints, all of it

After the first word there may be `args="--set n=3"`, given to pdc. Every document has a folder of
its own, in which its programs run in order.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^( *)```(\w+)([^\n`]*)\n(.*?)^\1``` *$", re.S | re.M)
LIMIT = 60  # seconds for one program


class Fence:
    """A fenced block: its kind, what follows that on its first line, its text and its line."""

    def __init__(self, kind, words, text, line):
        self.kind, self.text, self.line = kind, text, line
        parts = shlex.split(words)
        self.flags = {p for p in parts if "=" not in p}
        self.options = dict(p.split("=", 1) for p in parts if "=" in p)


def fences(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".pdg"):
        text = "\n".join(line[3:] if line.startswith("## ") else line[2:]
                         if line.startswith("##") else "" for line in text.split("\n"))
    for match in FENCE.finditer(text):
        body = re.sub(rf"^{match[1]}", "", match[4], flags=re.M)
        yield Fence(match[2], match[3], body, text.count("\n", 0, match.start()) + 1)


def run(command, text, folder):
    """Exit status, standard output and standard error of a command."""
    try:
        done = subprocess.run(command, input=text, text=True, capture_output=True, cwd=folder,
                              timeout=LIMIT, check=False)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return 124, "", f"stopped after {LIMIT} s\n"


def problem(pdc, fence, output, folder):
    """What is wrong with a program, or nothing."""
    args = shlex.split(fence.options.get("args", ""))
    code = fence.options.get("error")
    if "check" in fence.flags:
        status, _, error = run([pdc, "check", "-", *args], fence.text, folder)
        return error or "fails" if status else None
    if "plan" in fence.flags:
        status, out, error = run([pdc, "plan", "-", *args], fence.text, folder)
        if code:
            if status == 0 or f"[{code}]" not in error:
                return f"planned: expects the error {code}, got\n{out}{error or 'none'}"
            return None
        if status:
            return f"planned: {out}{error}"
        return f"planned: expects\n{output}got\n{out}" if output not in (None, out) else None
    printed = []
    for way in (["--interpret"], []):
        status, out, error = run([pdc, "run", "-", "--quiet", *way, *args], fence.text, folder)
        how = "interpreted" if way else "native"
        if code:
            if status == 0 or f"[{code}]" not in error:
                return f"{how}: expects the error {code}, got\n{out}{error or 'none'}"
        elif status != 0:
            return f"{how}: {out}{error}"
        if output is not None and out != output:
            return f"{how}: expects\n{output}got\n{out}"
        printed.append(out)
    if printed[0] != printed[1]:
        return f"interpreted it prints\n{printed[0]}native\n{printed[1]}"
    return None


def check_document(pdc, path):
    """What is wrong in one document, and how many programs it has."""
    wrong, count = [], 0
    found = list(fences(path))
    with tempfile.TemporaryDirectory() as folder:
        for i, fence in enumerate(found):
            if "file" in fence.options:
                with open(os.path.join(folder, fence.options["file"]), "w",
                          encoding="utf-8") as file:
                    file.write(fence.text)
            elif fence.kind == "pdg":
                follows = i + 1 < len(found) and found[i + 1].kind == "output"
                count += 1
                text = problem(pdc, fence, found[i + 1].text if follows else None, folder)
                if text:
                    wrong.append(f"{path}:{fence.line}: {text.rstrip()}")
    return wrong, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pdc", required=True)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    pdc = os.path.abspath(options.pdc)
    wrong, count = [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, programs in pool.map(lambda f: check_document(pdc, f), options.files):
            wrong += found
            count += programs
    for line in wrong:
        print(line)
    print(f"{count} programs, {len(wrong)} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
