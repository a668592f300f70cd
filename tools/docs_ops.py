"""Runs the examples of the dialect's manual, interpreted and native, and compares what they give.

    docs_ops.py --pdc build/bin/pdc --pdc-opt build/bin/pdc-opt

Every op of ir/ops/*.td has an example, a block of MLIR in its description. One with a `pdg.program`
is run as it is. All others become one program, in which what an example does not define is a constant:

    // x = [1, 2], ids = [1] -> [2]     what operands are, by name or in order, and the result
    %y = pdg.op %x, %ids : tensor<2xf32>, tensor<1xi64> // tensor<1xf32>

Operands without values are 1. `?` in a type is 2, and so is a size such as `[%n, 3]`, an operand
beyond the types behind the colon. The result, and its type behind the statement, are compared where
they are given. The example of an op that needs other processes is only verified.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import docs

FENCE = re.compile(r"^```mlir\n(.*?)^```$", re.S | re.M)
TENSOR = re.compile(r"tensor<[^>]*>")


def manual():
    """Each op's name, the names of its operands in their order, its examples, and whether it needs
    other processes."""
    for path in sorted(docs.sources(".td")):
        if re.fullmatch(r"ir/ops/\w+(?<!_class)\.td", path):
            for part in re.split(r"^### `", docs.tblgen("-gen-op-doc", path, "-dialect=pdg"),
                                 flags=re.M)[1:]:
                table = part.partition("#### Operands:")[2].partition("####")[0]
                yield (part.partition("`")[0], re.findall(r"^\| `(\w+)` \|", table, re.M),
                       FENCE.findall(part),
                       any(f"`{name}`" in part for name in ("CollectiveOpInterface",
                                                            "EdgeOpInterface")))


def statements(text):
    """(comments above, statement) of an example; a statement ends where brackets are closed and
    the next line begins one."""
    comments, lines = [], []
    for line in text.split("\n"):
        if line.startswith("//"):
            if lines:
                yield comments, "\n".join(lines)
                comments, lines = [], []
            comments.append(line[2:].strip())
            continue
        if lines and re.match(r"[%\w]", line):
            yield comments, "\n".join(lines)
            comments, lines = [], []
        if line.strip():
            lines.append(line)
    if lines:
        yield comments, "\n".join(lines)


def literals(text):
    """The values in a comment, each with its name or None."""
    found = []
    while match := re.search(r"(?:(\w+) = )?(?=[\[\-\d]|true|false)", text):
        value, end = json.JSONDecoder().raw_decode(text, match.end())
        found.append((match[1], value))
        text = text[end:]
    return found


def constant(name, kind, value):
    """The statement that defines an operand."""
    if re.search(r"[x<]b?f\d+>", kind):
        value = floats(1 if value is None else value)
    elif value is None:
        value = True if re.search(r"[x<]i1>", kind) else 2 if kind == "tensor<i64>" else 1
    return f"%{name} = pdg.constant dense<{json.dumps(value)}> : {kind}"


def floats(value):
    """The same lists, of floats."""
    return [floats(v) for v in value] if isinstance(value, list) else float(value)


class Example:
    """An example as part of a program: its lines, and what its results are expected to be."""

    def __init__(self, number, operands, text):
        self.lines, self.expected, self.defined = [], [], set()
        text = text.replace("?", "2")
        for comments, statement in statements(text):
            self.add(operands, comments, statement)

        def own(line):
            return re.sub(r"%(?=[a-zA-Z])", f"%e{number}_", line)

        self.lines = [own(line) for line in self.lines]
        self.expected = [(f"e{number}_{name}", own(line), *rest)
                         for name, line, *rest in self.expected]

    def add(self, operands, comments, statement):
        before, _, after = " ".join(comments).partition("-> ")
        values = literals(before) if after else []
        code = re.sub(r"//.*", "", statement)
        self.defined |= set(re.findall(r"%(\w+)(?=[:,] |\)| =)", " ".join(
            re.findall(r"^\s*%[^=\n]* =|\^bb0\([^\n]*", code, re.M))))
        used = list(dict.fromkeys(re.findall(r"%(\w+)", code)))
        missing = [name for name in used if name not in self.defined]
        if set(missing) <= set(operands):
            missing.sort(key=operands.index)
        sizes = re.findall(r"%(\w+)", " ".join(re.findall(r" to (\[[^]]*\])", code)))
        missing.sort(key=lambda name: name in sizes)
        kinds = TENSOR.findall(code.partition(" : ")[2].partition(" -> ")[0])
        kinds += ["tensor<i64>"] * len(missing)
        for position, (name, kind) in enumerate(zip(missing, kinds)):
            kind = "tensor<i64>" if name in sizes else kind
            value = next((v for n, v in values if n == name), None)
            if value is None and position < len(values) and values[position][0] is None:
                value = values[position][1]
            self.lines.append(constant(name, kind, value))
        self.defined |= set(used)
        self.lines.append(code)
        result = re.match(r"%(\w+) =", code)
        kind = re.search(r"// (tensor<.*>)\s*$", statement)
        if result:
            value = next((v for _, v in literals(after)), None)
            self.expected.append((result[1], code, value, kind and kind[1]))


def npy(values):
    """A .npy file of f32."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117)
    return b"\x93NUMPY\1\0v\0" + header.encode() + b"\n" + struct.pack(f"<{len(values)}f", *values)


def run(command, text):
    """What a command prints about a program, which finds points.csv and may be fed x.npy."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "points.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n3,4\n5,6\n")
        with open(os.path.join(folder, "x.npy"), "wb") as file:
            file.write(npy([1, 2, 3]))
        path = os.path.join(folder, "example.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*command, path], text=True, capture_output=True, cwd=folder,
                              check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} fails:\n{done.stderr}in\n{text}")
    return done.stdout


def both_ways(pdc, text):
    """What a program prints; native code prints the same."""
    feed = ["--feed", "x=x.npy"] if 'pdg.input "x"' in text else []
    printed = run([pdc, "run", "--quiet", "--interpret", *feed], text)
    native = run([pdc, "run", "--quiet", *feed], text)
    if printed != native:
        sys.exit(f"interpreted\n{printed}native\n{native}of\n{text}")
    return printed


def program(lines):
    """The text of a program."""
    return "\n".join(["pdg.program {", *lines, "pdg.yield", "}", ""])


def result_types(pdc_opt, lines):
    """The type of the first result of each line of a program, or None."""
    generic = run([pdc_opt, "--mlir-print-op-generic"], program(lines))
    ops = re.split(r"^ {4}(?=[%\"])", generic.rpartition("\n  })")[0], flags=re.M)[1:]
    return [TENSOR.search(op.rpartition(" -> ")[2]) for op in ops]


def check_joined(options, examples):
    """Runs the examples that are parts of programs; gives the number of wrong ones."""
    lines = [line for example in examples for line in example.lines]
    types = dict(zip(lines, result_types(options.pdc_opt, lines)))
    expected = [entry for example in examples for entry in example.expected]
    for name, line, _, _ in expected:
        lines.append(f'pdg.print ["{name} ", ""] [#pdg.format<>] (%{name} : {types[line][0]})')
    printed = both_ways(options.pdc, program(lines))
    found = dict(re.findall(r"^(e\d+_\w+) (?:\w+\[[\d, ]*\]\s*)?(.*?)(?=^e\d+_|\Z)", printed,
                            re.M | re.S))
    wrong = 0
    for name, line, value, kind in expected:
        if value is not None and json.JSONDecoder().raw_decode(found[name])[0] != value:
            print(f"{line}\n  expects {value}, gives {found[name]}")
            wrong += 1
        if kind and kind != types[line][0]:
            print(f"{line}\n  expects {kind}, gives {types[line][0]}")
            wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pdc", required=True)
    parser.add_argument("--pdc-opt", required=True)
    options = parser.parse_args()
    wrong, examples = 0, []
    for op, operands, texts, is_remote in manual():
        if not any(re.search(rf"(?<![\w.]){op}\b", text) for text in texts):
            print(f"{op} has no example")
            wrong += 1
        for text in texts:
            if "pdg.program" in text:
                both_ways(options.pdc, text)
            elif is_remote:
                run([options.pdc_opt], program(Example(0, operands, text).lines))
            else:
                examples.append(Example(len(examples), operands, text))
    wrong += check_joined(options, examples)
    print(f"{len(examples)} examples are parts of one program, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
