# How lit runs the tests of this folder: suffixes, features, substitutions and the tools on PATH.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess

import lit.formats

config.name = "pdg"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".pdg", ".test"]
# Files that tests read, and oracle data: no tests themselves.
config.excludes = ["Inputs", "oracles"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "test")


def works(command):
    return subprocess.run(command, capture_output=True).returncode == 0


# `slow` and `gpu` are asked for (--param slow=1); `numpy` is what the machine has.
for feature in ("slow", "gpu"):
    if lit_config.params.get(feature, "0") == "1":
        config.available_features.add(feature)
if works([config.python, "-c", "import numpy"]):
    config.available_features.add("numpy")

bin_dir = os.path.join(config.build_root, "bin")
config.substitutions += [
    ("%pdc-opt", os.path.join(bin_dir, "pdc-opt")),
    ("%pdc", os.path.join(bin_dir, "pdc")),
    ("%pdworker", os.path.join(bin_dir, "pdworker")),
    ("%python", config.python),
    ("%root", config.source_root),
    ("%examples", os.path.join(config.source_root, "examples")),
    ("%oracles", os.path.join(config.test_source_root, "oracles")),
]

path = [bin_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=error"
config.environment["NO_COLOR"] = "1"
# Compiled programs are cached below the build folder, never in the home of whoever runs the tests.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
for variable in ("PDG_DATA", "PDG_STDLIB", "PDG_ERRORS", "ASAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
