#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows a page of docs/guide as a newcomer would: in an empty folder, one command after the other.

usage: tour.py SOURCE_DIR BUILD_DIR [PAGE]
BUILD_DIR holds bin/d5 and python/d5. PAGE is a name in docs/guide (tour.md). Of the page are run

- each line that begins with "$ " in a ```console block, with the lines that it continues on behind a backslash. It has to
  exit with 0, or as the line "(exit status 1)" below it says, or "(exit status 0 or 1)";
- each other block is a file: the line before it ends in its name, as in: Save as `net.py`:

What the page shows of a command's output has to be there: its words, for numbers are one machine's. Exit status 1 if
anything differs, 4 if this build lacks what the tour needs.
"""

import dataclasses
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Words that another machine, or a busy one, says otherwise: statuses that hang on the clock, and units.
VARYING = re.compile(r"\b(?:passed|mistrusted|faster|slower|undecided|better|worse|\S+/s|[µnmk]?s|[kMGT]?B|[KMG]iB|[kMGT]?FLOP)\b|\[\d+(?:,\d+)*\]")


@dataclasses.dataclass
class File:
    line: int
    name: str
    text: str


@dataclasses.dataclass
class Command:
    line: int
    text: str
    statuses: set[int]
    shown: list[str]


def steps(page: str) -> list[File | Command]:
    """The page's blocks, in order. Throws: ValueError for a block that is neither commands nor a file."""
    result: list[File | Command] = []
    for block in re.finditer(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S):
        line = page.count("\n", 0, block.start()) + 1
        language, text = block.groups()
        if language != "console":
            name = re.search(r"`([\w.]+)`:\n+\Z", page[:block.start()])
            if not name:
                raise ValueError(f"{line}: this block is neither console nor a file: end the line before it in `NAME`:")
            result.append(File(line, name.group(1), text))
            continue
        command: Command | None = None
        for number, row in enumerate(text.splitlines(), line + 1):
            if command and command.text.endswith("\\") and not command.shown:
                command.text = command.text[:-1].rstrip() + " " + row.strip()
            elif row.startswith("$ "):
                command = Command(number, row[2:], {0}, [])
                result.append(command)
            elif command is None:
                raise ValueError(f"{number}: output without a command")
            elif status := re.fullmatch(r"\(exit status (\d+(?: or \d+)*)\)", row):
                command.statuses = {int(n) for n in status.group(1).split(" or ")}
            else:
                command.shown.append(row)
    return result


def words(line: str) -> list[str]:
    return [] if line.strip() == "..." else re.findall(r"[A-Za-z_]{3,}", VARYING.sub(" ", line))


def breaches(command: Command, status: int, output: str) -> list[str]:
    if status not in command.statuses:
        return [f"exit status {status}; the page says {' or '.join(map(str, sorted(command.statuses)))}"]
    found = []
    there = set(re.findall(r"[A-Za-z_]{3,}", output))
    for line in command.shown:
        missing = [word for word in words(line) if word not in there]
        if missing:
            found.append(f"the page shows {', '.join(missing)}, which it does not print: {line.strip()}")
    return found


def lacking(commands: list[Command], environment: dict[str, str], build: pathlib.Path) -> str:
    """What the tour needs and this build has not."""
    if not (build / "bin/d5").exists():
        return f"{build}/bin/d5; build the target d5_program"
    if not (build / "python/d5").is_dir():
        return f"{build}/python/d5; build the target d5_python"
    named = {word for command in commands if "--load" not in command.text
             for choice in re.findall(r"--framework ([\w:,+]+)", command.text)
             for word in re.findall(r"(?:^|[,+])(\w+)", choice)} - {"all", "auto", "reference"}
    table = subprocess.run(["d5", "env", "--format", "csv"], capture_output=True, text=True, env=environment).stdout
    for name in sorted(named):
        row = re.search(rf'^"?framework {name}"?,"?(.*)', table, re.M)
        if row is None or "left out of this build" in row.group(1):
            return f"the framework {name}"
    left_out = subprocess.run([sys.executable, "-c", "import d5; print(*d5._d5._left_out())"], capture_output=True, text=True,
                              env=environment).stdout.split()
    if left_out:
        return ", ".join(left_out)
    for module in ("numpy", "torch", "onnxscript"):
        if importlib.util.find_spec(module) is None:
            return f"the module {module} of {sys.executable}"
    return ""


def main(source: pathlib.Path, build: pathlib.Path, name: str = "tour.md") -> int:
    page = source / "docs/guide" / name
    plan = steps(page.read_text())
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        here = pathlib.Path(temporary, "tour")
        here.mkdir()
        environment = os.environ | {
            "PATH": os.pathsep.join([str(build / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(build / "python"),
            "D5_SOURCE": str(source),
            "D5_CACHE_DIR": str(pathlib.Path(temporary, "cache")),
            "COLUMNS": "120",
        }
        missing = lacking([step for step in plan if isinstance(step, Command)], environment, build)
        if missing:
            print(f"skipped: this build lacks what the tour needs: {missing}")
            return 4
        for step in plan:
            if isinstance(step, File):
                (here / step.name).write_text(step.text)
                continue
            begin = time.monotonic()
            run = subprocess.run(step.text, shell=True, cwd=here, env=environment, text=True, timeout=300,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(f"{time.monotonic() - begin:5.1f} s  $ {step.text}")
            found = breaches(step, run.returncode, run.stdout)
            if found or os.environ.get("TOUR_OUTPUT"):
                print(run.stdout)
            for breach in found:
                print(f"{page}:{step.line}: {breach}")
            failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        print(__doc__)
        sys.exit(2)
    source_dir, build_dir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    sys.exit(main(source_dir, build_dir, *sys.argv[3:]))
