#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves the house: the include arrow, headers that compile alone, umbrella headers, names of files, no
static initialisers, format.

usage: check_house.py SOURCE_DIR {arrow,umbrellas,headers,names,initialisers,readme,format} [COMPILER FLAGS...]
Prints each breach as file:line: message; exit status 1 if there is any, 4 if a tool is not installed.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

# A folder may include itself and what stands to its left.
ARROW = ["core", "onnx", "level0_ops", "level1_network", "level2_training", "level3_distributed"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:d5/)?([a-z0-9_]+)/', re.M)


def sources(folder: pathlib.Path, *suffixes: str) -> list[pathlib.Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes)


def arrow(root: pathlib.Path) -> Iterator[str]:
    """Level n includes only levels up to n; nothing includes frameworks, apps, python or tests."""
    for place in ("include/d5", "src"):
        for position, level in enumerate(ARROW):
            folder = root / place / level
            files = sources(folder, ".hpp", ".cpp", ".h")
            if not files:
                yield f"{folder}: no sources here; is the list of levels out of date?"
            for file in files:
                text = file.read_text()
                for match in INCLUDE.finditer(text):
                    target = match.group(1)
                    line = text.count("\n", 0, match.start()) + 1
                    if target in ARROW and ARROW.index(target) > position:
                        yield f"{file}:{line}: {level} includes {target}, which stands to its right"
                    if target in ("frameworks", "apps", "python", "tests", "benchmarks", "examples"):
                        yield f"{file}:{line}: {level} includes {target}"


def umbrellas(root: pathlib.Path) -> Iterator[str]:
    """include/d5/<folder>/<folder>.hpp includes every header of its folder; d5.hpp every umbrella."""
    top = (root / "include/d5/d5.hpp").read_text()
    for level in ARROW:
        folder = root / "include/d5" / level
        umbrella = folder / f"{level}.hpp"
        text = umbrella.read_text() if umbrella.exists() else ""
        for header in sorted(folder.glob("*.hpp")):
            if header != umbrella and f'"d5/{level}/{header.name}"' not in text:
                yield f"{umbrella}:1: does not include d5/{level}/{header.name}"
        if f'"d5/{level}/{level}.hpp"' not in top:
            yield f"{root}/include/d5/d5.hpp:1: does not include d5/{level}/{level}.hpp"


def headers(root: pathlib.Path, compiler: list[str]) -> Iterator[str]:
    """Each public header compiles by itself."""
    def compile_alone(header: pathlib.Path) -> str:
        language = "c" if header.suffix == ".h" else "c++"
        with tempfile.NamedTemporaryFile("w", suffix=".c" if language == "c" else ".cpp") as unit:
            # Twice: a header without a guard breaks here.
            unit.write(f'#include "{header}"\n#include "{header}"\n')
            unit.flush()
            standard = "-std=c11" if language == "c" else "-std=c++20"
            command = [*compiler, standard, "-fsyntax-only", "-Wall", "-Werror", "-x", language, unit.name]
            done = subprocess.run(command, capture_output=True, text=True)
            return "" if done.returncode == 0 else f"{header}:1: does not compile alone\n{done.stderr[:2000]}"

    with ThreadPoolExecutor(2) as pool:
        yield from filter(None, pool.map(compile_alone, sources(root / "include", ".hpp", ".h")))


def names(root: pathlib.Path) -> Iterator[str]:
    """No drawer names, an SPDX line first, no file that outgrew one idea without saying why."""
    for place in ("include", "src", "apps", "python", "frameworks", "examples", "benchmarks"):
        for file in sources(root / place, ".hpp", ".cpp", ".h", ".c", ".py"):
            if re.search(r"util|helper|common|misc", file.stem):
                yield f"{file}:1: name it after what it is"
            first = file.read_text().split("\n", 2)[:2]
            if not any("SPDX-License-Identifier: Apache-2.0" in line for line in first):
                yield f"{file}:1: the first line is not the SPDX line"


def initialisers(root: pathlib.Path) -> Iterator[str]:
    """No object of src/ is constructed before main: a linker may drop it, and its order is anyone's."""
    made = re.compile(r"^(?:static |inline )*const (?:std::)?\w+(?:<.*>)? \w+ *(?:=|\{|;|\(.*\);)", re.M)
    simple = re.compile(r"const (?:bool|char|int|double|float|auto|(?:std::)?u?int\d+_t|(?:std::)?size_t) ")
    for file in sources(root / "src", ".hpp", ".cpp"):
        text = file.read_text()
        for match in made.finditer(text):
            if not simple.search(match.group()):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{file}:{line}: is constructed before main; make it constexpr, or a function's static"


def readme(root: pathlib.Path) -> Iterator[str]:
    """Every complete program in the README is an example, which is built and run as a test."""
    examples = "".join(p.read_text() for p in sources(root / "examples", ".cpp", ".py"))
    text = (root / "README.md").read_text()
    blocks = re.findall(r"```(?:cpp|python)\n(.*?)```", text, re.S)
    if not blocks:
        yield f"{root}/README.md:1: holds no program"
    for block in blocks:
        if block not in examples:
            yield f"{root}/README.md:{text.count(chr(10), 0, text.index(block)) + 1}: is no example's text"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        if not (root / link).exists():
            yield f"{root}/README.md:1: links to {link}, which is not there"


def formatted(root: pathlib.Path) -> Iterator[str]:
    """As clang-format writes it: the one that scripts/setup installed, for versions differ."""
    tool = shutil.which("clang-format", path=str(pathlib.Path(sys.executable).parent))
    if not tool:
        print("skipped: no clang-format beside this Python; scripts/setup installs it")
        sys.exit(4)
    folders = ("include", "src", "apps", "python", "frameworks", "examples", "benchmarks", "tests")
    files = [f for folder in folders for f in sources(root / folder, ".hpp", ".cpp", ".h", ".c")]
    for start in range(0, len(files), 50):
        run = subprocess.run([tool, "--dry-run", *files[start:start + 50]], capture_output=True,
                             text=True, check=True)
        places = re.findall(r"^(\S+:\d+):\d+: warning: code should be", run.stderr, re.M)
        yield from (f"{place}: clang-format -i writes it otherwise" for place in dict.fromkeys(places))


def main() -> int:
    root, check, *compiler = pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]
    checks: dict[str, Callable[[pathlib.Path], Iterator[str]]] = {
        "arrow": arrow, "umbrellas": umbrellas, "names": names, "initialisers": initialisers,
        "readme": readme, "format": formatted, "headers": lambda r: headers(r, compiler)}
    breaches = list(checks[check](root))
    print("\n".join(breaches) or f"{check}: in order")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
