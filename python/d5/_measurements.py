# SPDX-License-Identifier: Apache-2.0
"""The list type of measurements."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any, Callable, SupportsIndex, overload

from d5._d5 import Measurement, _statuses, frameworks, metrics, to_html, to_table
from d5._former import takes_former_keywords
from d5._nearest import expect_known, hint, is_slip, keep_attributes
from d5._parameters import shown
from d5._plotting import plot
from d5.errors import TypeError, ValueError

_WORDS = ("subject", "level", "framework", "device", "metric", "unit", "statistic", "status", "reason")


#: Fields with few words, of which a misspelt one is no word.
_SPELT: dict[str, Callable[[], list[str]]] = {"level": list, "framework": frameworks, "device": list, "metric": metrics, "statistic": list}


def _said(row: Measurement, name: str) -> object:
    return getattr(row, name) if name in _WORDS else row.conditions.get(name, "")


def _says(row: Measurement, name: str, word: object) -> bool:
    if isinstance(word, (list, tuple, set)):
        return any(_says(row, name, one) for one in word)
    said = _said(row, name)
    return said == word or str(said) == str(word) or fnmatch.fnmatchcase(str(said), str(word))


def texts_of(who: str, name: str, word: object) -> list[object]:
    """The values of a filter's keyword: one, or those of a list. Raises: ValueError for an empty list."""
    values = list(word) if isinstance(word, (list, tuple, set)) else [word]
    if not values:
        raise ValueError(f"{who}: {name} is {shown(word)}, expected one or more values; leave it out for all")
    return values


def expect_spelt(who: str, name: str, word: object, values: Callable[[], set[str]]) -> None:
    """Raises: ValueError for a misspelt value of a field; `values` are those that there are, beside d5's own."""
    if not isinstance(word, str) or any(letter in word for letter in "*?["):
        return
    if name == "status" and word not in (statuses := _statuses()):
        raise ValueError(f"{who}: there is no status '{word}'; {hint(word, statuses, 'there are')}")
    if name not in _SPELT or word in (known := set(map(str, _SPELT[name]()))):
        return
    known |= values()
    near = sorted(one for one in known if is_slip(word, one))
    if near and word not in known:
        meant = " or ".join(f"'{one}'" for one in near)
        raise ValueError(f"{who}: no row has the {name} '{word}'; did you mean {meant}? A pattern may match no row: {name}='{word}*'")


def filter_texts(who: str, names: list[str], words: dict[str, Any], values_of: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """The texts of a database's filter, by the names of fields. Raises: UnknownOption, TypeError, ValueError."""
    found: dict[str, list[str]] = {}
    for name, word in words.items():
        expect_known(who, "keyword", name, names)
        values = texts_of(who, name, word)
        for one in values:
            if not isinstance(one, str):
                raise TypeError(f"{who}: {name} is {shown(one)}, expected a text or a list of them")
            if not one:
                raise ValueError(f"{who}: {name} is '', expected a text; leave it out for all")
            expect_spelt(who, name, one, lambda: set(values_of(name)))
        found[name] = [str(one) for one in values]
        if len(values) > 1 and name in ("since", "until"):
            raise TypeError(f"{who}: {name} is {shown(word)}, expected one time")
    return found


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


def _expected_row(row: Measurement) -> Measurement:
    if not isinstance(row, Measurement):
        raise TypeError(f"d5.Measurements: a row is {shown(row)}, expected a d5.Measurement")
    return row


class Measurements(list[Measurement]):
    """Rows, which print as a table and which a notebook shows as one; `pandas.DataFrame(rows)` is a
    table of their fields and conditions."""

    _all: Measurements | None = None  # the rows from which `where` chose these

    def __init__(self, rows: Iterable[Measurement] = ()) -> None:
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
            raise TypeError(f"d5.Measurements: rows is {shown(rows)}, expected a list of d5.Measurement")
        super().__init__(map(_expected_row, rows))

    def append(self, row: Measurement) -> None:
        super().append(_expected_row(row))

    def insert(self, place: SupportsIndex, row: Measurement) -> None:
        super().insert(place, _expected_row(row))

    def extend(self, rows: Iterable[Measurement]) -> None:
        super().extend(map(_expected_row, rows))

    def __iadd__(self, rows: Iterable[Measurement]) -> Measurements:  # type: ignore[override]
        self.extend(rows)
        return self

    @overload
    def __setitem__(self, place: SupportsIndex, row: Measurement) -> None: ...
    @overload
    def __setitem__(self, place: slice, row: Iterable[Measurement]) -> None: ...
    def __setitem__(self, place: Any, row: Any) -> None:
        super().__setitem__(place, [*map(_expected_row, row)] if isinstance(place, slice) else _expected_row(row))

    @overload
    def __getitem__(self, place: SupportsIndex) -> Measurement: ...
    @overload
    def __getitem__(self, place: slice) -> Measurements: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Measurement | Measurements:
        found = super().__getitem__(place)
        if not isinstance(found, list):
            return found
        several = Measurements(found)
        several._all = self._all or self
        return several

    def __add__(self, other: list[Measurement]) -> Measurements:  # type: ignore[override]
        return Measurements(super().__add__(other))

    def where(self, **words: object) -> Measurements:
        """Rows that match everything: `rows.where(metric="time", framework="torch")`, by a
        measurement's fields or its conditions, `rows.where(threads=2)`. A list matches any of its
        values, "*" any text.

        Raises: UnknownOption for a name that no measurement has; TypeError for another object; ValueError for a
        misspelt value, because no row would ever match: a `status` that there is not, and a `metric`,
        `framework`, `level`, `device` or `statistic` that neither these rows nor d5 know and that is
        one letter away from one of theirs. Another value, and a pattern ("tim*"), may match no row.
        """
        known = dict.fromkeys([*_WORDS, *(name for row in self for name in row.conditions)])
        for name in words if self else ():
            expect_known("d5.Measurements.where", "keyword", name, known)
        for name, word in words.items():
            for one in texts_of("d5.Measurements.where", name, word):
                if not isinstance(one, (str, Number)):
                    raise TypeError(f"d5.Measurements.where: {name} is {shown(one)}, expected a text, a number or a list of them")
                expect_spelt("d5.Measurements.where", name, one, lambda: {str(_said(row, name)) for row in self._all or self})
        found = Measurements(row for row in self if all(_says(row, name, word) for name, word in words.items()))
        found._all = self._all or self
        return found

    def __getstate__(self) -> None:
        """A copy has these rows alone."""

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


keep_attributes(Measurements)
