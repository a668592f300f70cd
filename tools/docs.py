"""The documents: `--check` verifies the written ones, without it the generated ones are made.

Generated into build/docs, never committed: the dialect and the passes (from TableGen), the syntax
(from the grammar), the library (`pdc doc`), the ABI, the error codes, the command line. The programs
that documents show are run by docs_programs.py.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import subprocess
import sys

import docs_syntax

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TBLGEN = "/usr/lib/llvm-22/bin/mlir-tblgen"
INCLUDES = ["-I", ROOT, "-I", "/usr/lib/llvm-22/include"]
FOLDERS = ("grammar", "frontend", "ir", "passes", "runtime", "stdlib", "test", "tools", "bench")
MARKS = ("TO" + "DO", "FIX" + "ME", "X" * 3, "<" * 7, ">" * 7)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def sources(*suffixes):
    """Paths, from the root, of the project's files that end so; build folders are left out."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build", "__")))
        found += [os.path.relpath(os.path.join(folder, n), ROOT)
                  for n in sorted(names) if n.endswith(suffixes)]
    return found


# Checks

def anchor(heading):
    """The anchor that a heading gets: lower case, spaces to hyphens, punctuation away."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def outside_fences(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def check_links():
    """Every relative link in a Markdown file leads to a file and, with #, to a heading of it."""
    for path in sources(".md"):
        text = re.sub(r"`[^`\n]*`", "", outside_fences(read(path)))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, mark = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(os.path.join(ROOT, file)):
                yield f"{path}: link to {target}: there is no {file}"
            elif mark and file.endswith(".md"):
                headings = re.findall(r"^#+ +(.*)$", outside_fences(read(file)), re.M)
                if mark not in [anchor(h) for h in headings]:
                    yield f"{path}: link to {target}: {file} has no such heading"


def declared_codes():
    """The codes that a diagnostics table declares, each with its title."""
    codes = {}
    for path in sources("diagnostics.def"):
        codes.update(re.findall(r"^PDG_\w+\((PD\d{4}),[^\"]*\"([^\"]*)\"\)", read(path), re.M))
    return codes


def check_codes():
    """Each declared code has its page with its title, and each page a declared code."""
    declared = declared_codes()
    folder = os.path.join(ROOT, "docs", "errors")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    pages = {n[:-3] for n in names if re.fullmatch(r"PD\d{4}\.md", n)}
    for code in sorted(declared.keys() - pages):
        yield f"docs/errors/{code}.md is missing: the page of \"{declared[code]}\""
    for code in sorted(pages - declared.keys()):
        yield f"docs/errors/{code}.md is the page of a code that no diagnostics.def declares"
    for code in sorted(pages & declared.keys()):
        # A heading starts with a capital, a title inside a message does not.
        title = declared[code][0].upper() + declared[code][1:]
        if read(f"docs/errors/{code}.md").split("\n", 1)[0] != f"# {code}: {title}":
            yield f"docs/errors/{code}.md: expects the first line \"# {code}: {title}\""


def check_readmes():
    """Each folder says what was decided in it, in less than 100 lines."""
    for folder in FOLDERS:
        path = f"{folder}/README.md"
        if not os.path.exists(os.path.join(ROOT, path)):
            yield f"{path} is missing: the decisions of the folder and their reasons"
        elif read(path).count("\n") >= 100:
            yield f"{path}: expects less than 100 lines, has {read(path).count(chr(10))}"


def check_leftovers():
    """No marks of unfinished work or of a merge, and no licence line forgotten."""
    for path in sources(".cpp", ".h", ".td", ".py", ".g4", ".def", ".pdg", ".md", ".txt"):
        text = read(path)
        for number, line in enumerate(text.split("\n"), 1):
            for mark in MARKS:
                if re.search(rf"(?<!\w){mark}(?!\w)", line):
                    yield f"{path}:{number}: {mark}"
        if path.endswith((".cpp", ".h", ".td", ".py", ".g4", ".def")):
            if "SPDX-License-Identifier: Apache-2.0" not in text[:3000]:
                yield f"{path}: expects a line `SPDX-License-Identifier: Apache-2.0`"


def check():
    wrong = [*check_links(), *check_codes(), *check_readmes(), *check_leftovers(),
             *docs_syntax.check_page(read("grammar/Pdg.g4"))]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


# Generated documents

def tblgen(action, path, *options):
    """What mlir-tblgen writes for a .td file, without its notice of origin."""
    done = subprocess.run([TBLGEN, action, *options, *INCLUDES, os.path.join(ROOT, path)],
                          text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"docs: {path}: {done.stderr.rstrip()}")
    return re.sub(r"<!-- Autogenerated.*?-->\n?", "", done.stdout).strip() + "\n"


def dialect_document():
    parts = ["# The pdg dialect\n"]
    description = re.search(r"let description = \[\{\n(.*?)\}\];", read("ir/dialect.td"), re.S)
    if description:
        parts.append(re.sub(r"^    ", "", description[1], flags=re.M))
    for path in sources(".td"):
        group = re.fullmatch(r"ir/ops/(\w+)\.td", path)
        if group and not group[1].endswith("_class"):
            parts.append(f"## {group[1].replace('_', ' ').capitalize()}\n")
            parts.append(tblgen("-gen-op-doc", path, "-dialect=pdg"))
    return "\n".join(parts)


def passes_document():
    return "# Passes\n\n" + tblgen("-gen-pass-doc", "passes/passes.td")


def syntax_document():
    return docs_syntax.syntax_page(read("grammar/Pdg.g4"))


def abi_document():
    """The C functions that compiled code calls, from the comments of abi.def."""
    out = ["# The ABI of compiled programs", ""]
    pattern = re.compile(r"((?:^///[^\n]*\n)+)^PDG_ABI\((\w+), (\w+),\s*\((.*?)\)\)$", re.S | re.M)
    for comment, result, name, parameters in pattern.findall(read("runtime/abi.def")):
        text = "\n".join(line[3:].strip() for line in comment.splitlines())
        signature = re.sub(r"\s+", " ", f"{result} {name}({parameters});")
        out += [f"## {name}", "", "```c", signature, "```", "", text, ""]
    return "\n".join(out)


def errors_document():
    rows = [f"| `{code}` | {title} |" for code, title in sorted(declared_codes().items())]
    return "\n".join(["# Errors", "", "`pdc explain CODE` prints the page of a code.", "",
                      "| code | what |", "|---|---|", *rows, ""])


def pdc_help(pdc, *command):
    return subprocess.run([pdc, *command, "--help"], text=True, capture_output=True,
                          check=True).stdout


def write_library(build, folder):
    """The manual of the library as HTML pages; returns its line of the index."""
    pdc = os.path.join(build, "bin", "pdc")
    if not os.path.exists(pdc):
        return "- The library: build it first, `./dev build`"
    page = os.path.join(folder, "library", "index.html")
    subprocess.run([pdc, "doc", "--html", os.path.dirname(page)], stdout=subprocess.DEVNULL,
                   check=True)
    print(os.path.relpath(page, os.getcwd()))
    return "- [The library](library/index.html), also `pdc doc`"


def cli_document(build):
    pdc = os.path.join(build, "bin", "pdc")
    if not os.path.exists(pdc):
        return "# pdc\n\nBuild it first: `./dev build`, then `./dev docs`.\n"
    out = ["# pdc", ""]
    commands = re.findall(r"^  (\w+) +[A-Z]", pdc_help(pdc), re.M)
    for command in ("", *commands):
        text = pdc_help(pdc, *command.split())
        out += [f"## pdc {command}".rstrip(), "", "```", text.strip(), "```", ""]
    return "\n".join(out)


def generate(build):
    documents = {"dialect": ("ir/dialect.td", dialect_document),
                 "passes": ("passes/passes.td", passes_document),
                 "syntax": ("grammar/Pdg.g4", syntax_document),
                 "abi": ("runtime/abi.def", abi_document),
                 "errors": ("frontend/diagnostics.def", errors_document),
                 "cli": ("tools/pdc.cpp", lambda: cli_document(build))}
    folder = os.path.join(build, "docs")
    os.makedirs(folder, exist_ok=True)
    index = ["# Reference", "", "Made by `./dev docs` from the sources.", ""]
    for name, (source, make) in documents.items():
        if not os.path.exists(os.path.join(ROOT, source)):
            continue
        text = make()
        with open(os.path.join(folder, f"{name}.md"), "w", encoding="utf-8") as file:
            file.write(text)
        title = text.split("\n", 1)[0].lstrip("# ")
        index.append(f"- [{title}]({name}.md), from `{source}`")
        print(os.path.join(os.path.relpath(folder, os.getcwd()), f"{name}.md"))
    index.append(write_library(build, folder))
    for path in sources(".md"):
        if re.fullmatch(r"docs/\w+\.md", path):
            title = read(path).split("\n", 1)[0].lstrip("# ")
            index.append(f"- [{title}]({os.path.relpath(os.path.join(ROOT, path), folder)})")
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(index) + "\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    return check() if options.check else generate(options.build)


if __name__ == "__main__":
    sys.exit(main())
