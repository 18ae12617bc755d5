#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that each public header compiles by itself.

A process of the compiler takes a chain of headers, of which each reads those before it, and begins where one of a few
large headers ends, which the chain reads as well: that one is parsed once. Neither gives a header anything that it does
not read anyway. A header that passed is compiled again when its text, a text that it reads, the compiler or its command
line changed; PROVEN has the digests of those that passed.

usage: check_headers.py SOURCE_DIR PROVEN COMPILER FLAGS...
Prints each breach; exit status 1 if there is any.
"""

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from check_house import included, sources

INCLUDE, PROVEN = pathlib.Path(sys.argv[1]).resolve() / "include/d5", pathlib.Path(sys.argv[2])
COMPILER = [*sys.argv[3:], "-Wall"]
LARGE = ("level2_training/training/trainer.hpp", "level2_training/data/sampler.hpp",
         "level1_network/graph/graph_executor.hpp", "level0_ops/operator/operator_registry.hpp",
         "core/entries/entry.hpp", "core/tensor/tensor.hpp", "memory", "functional", "string")


@cache
def text(name: str) -> str:
    file = INCLUDE / name
    return file.read_text() if file.exists() else ""


@cache
def read_by(name: str) -> frozenset[str]:
    """What a header of d5's includes, by way of others of d5's too."""
    direct = {"/".join(target).removeprefix("d5/") for _, target in included(INCLUDE / name)} if text(name) else set()
    return frozenset(direct.union(re.findall(r"^#include <(\w+)>", text(name), re.M), *map(read_by, direct)))


def begin(name: str) -> str:
    return next((one for one in LARGE if one in read_by(name)), "")


def digest(name: str, outside: str) -> str:
    """By all that decides whether a header compiles; `outside` is what it reads beside d5's headers, and the command."""
    texts = "".join(f"{one}\n{text(one)}" for one in [name, *sorted(read_by(name))])
    return hashlib.sha256((outside + texts).encode()).hexdigest()


def outside() -> str:
    """The compiler, its command line, this check, and the files that all headers read, beside d5's own."""
    version = subprocess.run([COMPILER[0], "--version"], capture_output=True, text=True, check=True).stdout
    rule = subprocess.run([*COMPILER, "-std=c++20", "-M", INCLUDE / "d5.hpp"], capture_output=True, text=True, check=True).stdout
    files = [pathlib.Path(one) for one in rule.replace("\\\n", " ").split()[1:]]
    stated = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files if not one.is_relative_to(INCLUDE)]
    return f"{version}{COMPILER}{stated}{pathlib.Path(__file__).read_text()}"


def chains(names: list[str]) -> list[list[str]]:
    """The longest first, so that two processes end at once."""
    found: list[list[str]] = []
    for name in sorted(names, key=lambda one: len(read_by(one))):
        fitting = [chain for chain in found if chain[-1] in read_by(name) and begin(chain[0]) == begin(name)]
        if fitting:
            max(fitting, key=lambda chain: len(read_by(chain[-1]))).append(name)
        else:
            found.append([name])
    return sorted(found, key=lambda chain: -len(read_by(chain[-1])))


def parse_once(name: str, folder: pathlib.Path) -> None:
    parsed = folder / name.replace("/", "_")
    parsed.write_text(f'#include "d5/{name}"\n' if "/" in name else f"#include <{name}>\n")
    subprocess.run([*COMPILER, "-std=c++20", "-x", "c++-header", parsed, "-o", f"{parsed}.gch"], check=True)


def breaches(chain: list[str], folder: pathlib.Path) -> list[str]:
    language, standard = ("c", "c11") if chain[0].endswith(".h") else ("c++", "c++20")
    unit = folder / (chain[-1].replace("/", "_") + (".c" if language == "c" else ".cpp"))
    # Twice: a header without a guard breaks here.
    unit.write_text("".join(f'#include "{INCLUDE / name}"\n' * 2 for name in chain))
    parsed = ["-include", str(folder / begin(chain[0]).replace("/", "_"))] if begin(chain[0]) else []
    done = subprocess.run([*COMPILER, f"-std={standard}", "-fsyntax-only", "-Werror", *parsed, "-x", language, unit],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return []
    if len(chain) > 1:
        return [breach for name in chain for breach in breaches([name], folder)]
    return [f"{INCLUDE / chain[0]}:1: does not compile alone\n{done.stderr[:2000]}"]


def main() -> int:
    names = [str(file.relative_to(INCLUDE)) for file in sources(INCLUDE, ".hpp", ".h")]
    beside = outside()
    digests = {name: digest(name, beside) for name in names}
    proven = set(PROVEN.read_text().split()) if PROVEN.exists() else set()
    unproven = chains([name for name in names if digests[name] not in proven])
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(made)
        list(pool.map(lambda one: parse_once(one, folder), [one for one in LARGE if any(begin(c[0]) == one for c in unproven)]))
        found = list(pool.map(lambda chain: breaches(chain, folder), unproven))
    passed = {name for chain, broken in zip(unproven, found) if not broken for name in chain}
    PROVEN.write_text("".join(f"{digests[name]}\n" for name in names if name in passed or digests[name] in proven))
    count = sum(map(len, unproven))
    print("\n".join(sum(found, [])) or f"headers: in order ({count} compiled in {len(unproven)} chains, {len(names) - count} unchanged)")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
