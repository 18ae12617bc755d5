# SPDX-License-Identifier: Apache-2.0
"""What a training returns, and the changes to its recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from d5._d5 import to_html, to_table
from d5._measurements import Measurements
from d5._parameters import shown
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
        f"{who}: overrides is {shown(overrides)}; expected a mapping, {{'training.epochs': 2}}, or assignments, ['training.epochs=2']"
    )


def texts_of(overrides: Overrides) -> list[str]:
    """Keys of a mapping whose values are texts, which are no numbers."""
    if not isinstance(overrides, Mapping):
        return []
    inner = [f"{key}.{below}" for key, value in overrides.items() if isinstance(value, Mapping) for below in texts_of(value)]
    return [key for key, value in overrides.items() if isinstance(value, str)] + inner


def _of_mapping(who: str, values: Mapping[str, Any], above: str) -> Iterator[str]:
    """The name of a part comes first: its options depend on it."""
    for key in sorted(values, key=lambda one: one != "name"):
        whole, value = f"{above}{key}", _plain(values[key])
        if isinstance(value, Mapping):
            yield from _of_mapping(who, value, f"{whole}.")
        elif _is_word(value):
            yield f"{whole}={str(value).lower() if isinstance(value, bool) else value}"
        else:
            raise TypeError(
                f"{who}: the override of '{whole}' is {shown(value)}; expected a text, a number, a flag or a mapping"
            )


def _plain(value: Any) -> Any:
    """A value of NumPy's or torch's as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value


def _is_word(value: object) -> bool:
    return isinstance(value, (int, float, str)) or hasattr(value, "__fspath__")

