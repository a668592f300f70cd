"""The size report: lines by folder, and the longest files and functions."""
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUFFIXES = (".cpp", ".h", ".td", ".def", ".g4", ".py", ".pdg", ".mlir", ".test", ".cmake")
LONG_FILE, LONG_FUNCTION, SHOWN = 500, 60, 3


def sources():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build", "__")))
        for name in sorted(names):
            if name.endswith(SUFFIXES) or name in ("dev", "CMakeLists.txt"):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def functions(path, lines):
    """Functions of a C++ file that is laid out by clang-format: one ends at a lone closing brace
    in the column in which the line that opened it starts."""
    start = None
    for number, line in enumerate(lines, 1):
        opens = re.match(r"^( {0,4})[\w:~<].*\)[\w ]* \{$", line)
        if start is None and line.endswith(" {") and not re.match(r"^\s*(if|for|while|switch|namespace|else|do|try)\b", line):
            if opens or re.match(r"^( {2,})[\w&*].*\)[\w ]* \{$", line):
                first = number
                while first > 1 and re.match(r"^\s{4,}\S", lines[first - 1]):
                    first -= 1
                indent = len(lines[first - 1]) - len(lines[first - 1].lstrip())
                start = (first, indent, lines[first - 1])
        elif start and re.match(rf"^ {{{start[1]}}}\}}", line):
            name = re.search(r"([\w:~]+)\(", start[2])
            yield number - start[0] + 1, f"{path}:{start[0]} {name[1] if name else ''}"
            start = None


def main():
    folders, files, longest = {}, [], []
    for path in sources():
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        top = path.split(os.sep)[0] if os.sep in path else "(root)"
        folders[top] = folders.get(top, 0) + len(lines)
        files.append((len(lines), path))
        if path.endswith((".cpp", ".h")):
            longest += functions(path, lines)
    print("lines: " + ", ".join(f"{name} {count}" for name, count in sorted(folders.items()))
          + f"; total {sum(folders.values())}")
    for title, items, limit in (("files", files, LONG_FILE), ("functions", longest, LONG_FUNCTION)):
        items = sorted(items, reverse=True)
        over = [item for item in items if item[0] > limit]
        print(f"longest {title}: " + ", ".join(f"{name} ({count})" for count, name in items[:SHOWN])
              + (f"; {len(over)} over {limit} lines" if over else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
