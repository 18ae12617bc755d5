# SPDX-License-Identifier: Apache-2.0
"""What a training returns, and the changes to its recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from d5._d5 import to_html, to_table
from d5._measurements import Measurements
from d5.errors import TypeError

#: {"optimizer.name": "adam", "training": {"epochs": 2}}, or ["optimizer.name=adam", "training.epochs=2"].
Overrides = Union[Mapping[str, Any], Sequence[str]]


class TrainingResult(NamedTuple):
    """Measurements of a training, and whether they meet the recipe's acceptance criteria.

        result = d5.train("mnist-lenet-quick")
        print(result.rows.where(metric="test_accuracy")[0].value, result.passed)
        rows, passed = result
    """

    #: A record per metric.
    rows: Measurements
    #: Whether all acceptance criteria were met.
    passed: bool

    def __str__(self) -> str:
        return f"{to_table(self.rows)}\n{_verdict(self.passed)}"

    def _repr_html_(self) -> str:
        return f"{to_html(self.rows)}<p>{_verdict(self.passed)}</p>"


def _verdict(passed: bool) -> str:
    return "all acceptance criteria are met" if passed else "an acceptance criterion is missed"


def assignments(who: str, overrides: Overrides) -> list[str]:
    """Assignments to a recipe's keys, as texts. Raises: TypeError."""
    if isinstance(overrides, Mapping):
        return list(_of_mapping(who, overrides, ""))
    words = [overrides] if isinstance(overrides, str) else overrides
    if isinstance(words, Sequence) and all(isinstance(word, str) for word in words):
        return list(words)
    raise TypeError(
        f"{who}: overrides is {overrides!r}; expected a mapping, {{'training.epochs': 2}}, or assignments, ['training.epochs=2']"
    )


def _of_mapping(who: str, values: Mapping[str, Any], above: str) -> Iterator[str]:
    """The name of a part comes first: its options depend on it."""
    for key in sorted(values, key=lambda one: one != "name"):
        whole, value = f"{above}{key}", values[key]
        if isinstance(value, Mapping):
            yield from _of_mapping(who, value, f"{whole}.")
        elif isinstance(value, bool):
            yield f"{whole}={str(value).lower()}"
        elif isinstance(value, (int, float, str)):
            yield f"{whole}={value}"
        else:
            raise TypeError(f"{who}: the override of '{whole}' is {value!r}; expected a text, a number, a flag or a mapping")
