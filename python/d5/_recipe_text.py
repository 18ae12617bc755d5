# SPDX-License-Identifier: Apache-2.0
"""A recipe's text of nested dicts, with the place of each of its lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from d5._parameters import shown
from d5.errors import TypeError


def text_of(parts: Mapping[str, Any], file: str) -> tuple[str, list[str]]:
    """YAML, a value a line, and what messages call each line: "mutable.training.epochs". Raises: TypeError
    for a value that a recipe cannot hold, which names it below `file`."""
    lines: list[tuple[str, str]] = []
    for name, part in parts.items():
        word = name if isinstance(name, str) and re.fullmatch(r"\w+", name) else _quoted(str(name))
        try:
            (first, place), *rest = _lines(part, str(name))
        except TypeError as error:
            raise TypeError(f"{file}:{error}") from None
        lines += [(f"{word}: {first}", place), *rest]
    return "".join(f"{line}\n" for line, _ in lines), [place for _, place in lines]


def _lines(value: Any, place: str) -> list[tuple[str, str]]:
    """Lines of JSON. Those below the first begin with a space, so that they belong to its key."""
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's and torch's
    if isinstance(value, Mapping):
        entries = [(f"{_quoted(str(key))}: ", f"{place}.{key}", one) for key, one in value.items()]
        return _between("{}", entries, place)
    if isinstance(value, (list, tuple)):
        return _between("[]", [("", f"{place}.{index}", one) for index, one in enumerate(value)], place)
    if hasattr(value, "__fspath__"):
        return [(_quoted(str(value)), place)]
    if isinstance(value, (str, int, float)):
        return [(_quoted(value), place)]
    raise TypeError(f"{place} is {shown(value)}; expected a text, a number, a flag, or a list or dict of them")


def _between(brackets: str, entries: list[tuple[str, str, Any]], place: str) -> list[tuple[str, str]]:
    lines = [(brackets[0], place)]
    for count, (key, own, value) in enumerate(entries, 1):
        (first, _), *rest = _lines(value, own)
        lines += [(f" {key}{first}", own), *((f" {line}", inner) for line, inner in rest)]
        if count < len(entries):
            lines[-1] = (f"{lines[-1][0]},", lines[-1][1])
    return [*lines, (f" {brackets[1]}", place)]


def _quoted(value: str | float) -> str:
    return json.dumps(value, ensure_ascii=False)
