#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that each building can be left out: d5 is configured without it, and neither a target nor a file of it is left.
No file is compiled.

usage: check_buildings.py SOURCE_DIR BUILD_DIR CMAKE COMPILER
Prints each breach; exit status 1 if there is any.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from check_house import buildings, tree

SOURCE, BUILD = (pathlib.Path(folder).resolve() for folder in sys.argv[1:3])
CMAKE, COMPILER = sys.argv[3:5]


def cached(name: str) -> str:
    """What the build has for a variable of CMake."""
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


def configure(work: pathlib.Path, left_out: str) -> str:
    """Without one building. Returns what CMake said. Frameworks that are no building's take the most time, and are left
    out too; a file is a line of build.ninja."""
    options = {"D5_UNITY": "OFF", "D5_PRECOMPILE": "OFF", "D5_BUILD_BENCHMARKS": "ON"}
    options |= {name: cached(name) for name in ("D5_DEPS", "CMAKE_PREFIX_PATH", "Python3_EXECUTABLE") if cached(name)}
    options |= {f"D5_WITH_{folder.name}": "OFF" for folder in (SOURCE / "frameworks").iterdir()
                if folder.is_dir() and folder.name != "simgrid"}
    options |= {f"D5_BUILD_{name.upper()}": "OFF" if name == left_out else "ON" for name in buildings(SOURCE)}
    done = subprocess.run([CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", work, *(f"-D{k}={v}" for k, v in options.items())],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"configuring without {left_out} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def gone(left_out: str) -> list[str]:
    """Itself, and what stands behind it in the tree."""
    return [building for building, allowed in tree(SOURCE).items() if left_out in allowed]


def breaches(work: pathlib.Path, left_out: str) -> Iterator[str]:
    said = configure(work, left_out)
    without = gone(left_out)
    yield from (f"without {left_out}: CMake does not say that {one} is left out"
                for one in without[1:] if f"{one.capitalize()} is left out" not in said)
    lines = [line for line in (work / "build.ninja").read_text().splitlines() if line.startswith("build ")]
    for building in buildings(SOURCE):
        own = [line for line in lines if re.search(rf"/{building}/\S+\.cpp\b|\bd5_{building}\b", line)]
        other = [line for line in lines if f"/no_{building}/" in line]
        if building in without:
            yield from (f"without {left_out}: {line[:150]}" for line in own)
        else:
            yield from (f"without {left_out}: {line[:150]}" for line in other)
            if not own:
                yield f"without {left_out}: nothing of {building} is built"
    installing = "".join(file.read_text() for file in work.glob("cmake_install.cmake"))
    yield from (f"without {left_out}: the headers of {one} are installed" for one in without
                if not re.search(rf'REGEX "[^"]*\b{one}\b[^"]*" EXCLUDE', installing))
    # The umbrella header, beside those headers alone that are installed.
    include = work / "installed" / "d5"
    include.mkdir(parents=True, exist_ok=True)
    for entry in (SOURCE / "include/d5").iterdir():
        (include / entry.name).unlink(missing_ok=True)
        if entry.name not in without:
            (include / entry.name).symlink_to(entry)
    # What is generated while building stands in the build.
    done = subprocess.run([COMPILER, "-std=c++20", "-M", "-I", include.parent, "-I", work / "generated", "-I",
                           BUILD / "generated", "-x", "c++", include / "d5.hpp"], capture_output=True, text=True)
    if done.returncode != 0:
        yield f"without {left_out}: d5/d5.hpp does not compile\n{done.stderr[:1000]}"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:  # configured again and again: the compiler is tried once
        found = [breach for one in buildings(SOURCE) for breach in breaches(pathlib.Path(folder), one)]
    print("\n".join(found) or "buildings: in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
