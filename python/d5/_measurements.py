# SPDX-License-Identifier: Apache-2.0
"""The list type of measurements."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any, SupportsIndex, overload

from d5._d5 import Measurement, to_html, to_table
from d5._former import takes_former_keywords
from d5._nearest import expect_known
from d5._plotting import plot

_WORDS = ("subject", "level", "framework", "device", "metric", "unit", "statistic", "status", "reason")


def _says(row: Measurement, name: str, word: object) -> bool:
    said = getattr(row, name) if name in _WORDS else row.conditions.get(name, "")
    return fnmatch.fnmatchcase(str(said), str(word))


def _row(one: Measurement) -> dict[str, Any]:
    low, high = one.interval
    row: dict[str, Any] = {name: getattr(one, name) for name in _WORDS}
    row |= {"value": one.value, "low": low, "high": high, "samples": len(one.samples)}
    return {**one.conditions, **row}


def _be_mappings() -> None:
    """Measurements are rows for `pandas.DataFrame`, which asks for a Mapping."""
    for name, method in {
        "keys": lambda self: _row(self).keys(),
        "__iter__": lambda self: iter(_row(self)),
        "__len__": lambda self: len(_row(self)),
        "__getitem__": lambda self, name: _row(self)[name],
    }.items():
        setattr(Measurement, name, method)
    Mapping.register(Measurement)


_be_mappings()


class Measurements(list[Measurement]):
    """Rows, which print as a table and which a notebook shows as one; `pandas.DataFrame(rows)` is a
    table of their fields and conditions."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> Measurement: ...
    @overload
    def __getitem__(self, place: slice) -> Measurements: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Measurement | Measurements:
        found = super().__getitem__(place)
        return Measurements(found) if isinstance(found, list) else found

    def __add__(self, other: list[Measurement]) -> Measurements:  # type: ignore[override]
        return Measurements(super().__add__(other))

    def where(self, **words: object) -> Measurements:
        """Rows that match everything: `rows.where(metric="time", framework="torch")`, by a
        measurement's fields or its conditions, `rows.where(threads="2")`. "*" matches any text.

        Raises: UnknownOption for a name that no measurement has.
        """
        known = dict.fromkeys([*_WORDS, *(name for row in self for name in row.conditions)])
        for name in words if self else ():
            expect_known("d5.Measurements.where", "keyword", name, known)
        return Measurements(row for row in self if all(_says(row, name, word) for name, word in words.items()))

    def rows(self) -> list[dict[str, Any]]:
        """A dict of plain values per measurement. Conditions are columns by their names."""
        return [_row(one) for one in self]

    def __str__(self) -> str:
        return to_table(self)

    @takes_former_keywords
    def plot(self, name: str = "", ax: Any = None) -> Any:
        """Draws one of `d5.plots`, by default the first, on matplotlib's axes `ax`, or new ones, which
        are returned; without matplotlib returns the `d5.Plot`."""
        return plot(self, name, ax)

    def _repr_html_(self) -> str:
        return to_html(self)
