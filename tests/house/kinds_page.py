#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/kinds.md: every kind of part that `d5 list` shows, its entries and their options.

usage: kinds_page.py SOURCE_DIR PROGRAM [--update]

Without --update it compares. Frameworks' own entries (torch/adam, torch:script) are left out, since builds differ
in them. Exit status: 0 the page is as it would be written, 1 it is not, 4 this build lacks a part of d5.
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

# Their lists depend on the machine, or stand on pages of their own.
ELSEWHERE = {"devices", "frameworks", "operators", "executors"}
HEAD = """# Kinds of parts

Written by `kinds_page.py --update` (tests/house), never by hand; `d5 list KIND NAME` shows the same
for what is installed, with frameworks' own entries (`torch/adam`) and those of `--load`. Operators
are on [a page of their own](operators.md).

A recipe, `--set`, Python's keywords and `NAME:KEY=VALUE` on a command line use these names and
options.
"""


def cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("<", "&lt;")


def anchor(kind: str) -> str:
    return f"[`{kind}`](#{kind})"


class Page:
    def __init__(self, program: str) -> None:
        self.program = program

    def rows(self, *words: str) -> list[dict[str, str]]:
        done = subprocess.run([self.program, "list", *words, "--format", "json"], capture_output=True, text=True, check=True)
        rows: list[dict[str, str]] = json.loads(done.stdout)
        return rows

    def section(self, kind: str, foreign: set[str]) -> str:
        entries = [row for row in self.rows(kind) if not re.search("[/:]", row["name"]) and row["name"] not in foreign]
        text = f"\n## {kind}\n\n| name | summary |\n| --- | --- |\n"
        text += "".join(f"| `{row['name']}` | {cell(row['summary'])} |\n" for row in entries)
        if kind == "recipes":
            return text
        entries_of: dict[str, list[str]] = {}  # an option that several entries share is one row
        for entry in entries:
            for row in self.rows(kind, entry["name"]):
                cells = [cell(row[column]) for column in ("type", "default", "range", "what")]
                entries_of.setdefault(f"`{row['option']}` | {' | '.join(cells)}", []).append(f"`{entry['name']}`")
        if entries_of:
            text += "\n| option | type | default | range | meaning | of |\n| --- | --- | --- | --- | --- | --- |\n"
        for option, names in entries_of.items():
            text += f"| {option} | {'all' if len(names) == len(entries) > 1 else ', '.join(names)} |\n"
        return text

    def text(self) -> str:
        kinds = [row["kind"] for row in self.rows() if row["kind"] not in ELSEWHERE]
        foreign = {row["framework"] for row in self.rows("frameworks")}
        with ThreadPoolExecutor(2) as pool:
            sections = list(pool.map(lambda kind: self.section(kind, foreign), kinds))
        index = textwrap.fill(" · ".join(map(anchor, kinds)), 100, break_long_words=False, break_on_hyphens=False)
        return HEAD + "\n" + index + "\n" + "".join(sections)


def main(source: pathlib.Path, program: str, update: bool) -> int:
    path = source / "docs/reference/kinds.md"
    text = Page(program).text()
    if update:
        path.write_text(text)
        return 0
    before = path.read_text() if path.exists() else ""
    if text == before:
        print(f"{path}: in order")
        return 0
    missing = set(re.findall(r"^## (\S+)$", before, re.M)) - set(re.findall(r"^## (\S+)$", text, re.M))
    if missing:
        print(f"skipped: this build has no {', '.join(sorted(missing))}")
        return 4
    print(f"{path} is out of date: run kinds_page.py --update")
    return 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--update"]):
        print(__doc__)
        sys.exit(2)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], "--update" in sys.argv))
