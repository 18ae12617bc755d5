# SPDX-License-Identifier: Apache-2.0
"""Parts written in Python under names of their own: for recipes, `d5 list`, `--load FILE.py`."""

from __future__ import annotations

import inspect
import typing
from typing import Any, Callable

from d5._bases import DistributedOptimizer, Metric, Optimizer, Schedule, StepModifier
from d5._d5 import Dataset, DatasetPair, Sampler, _add_entry
from d5.errors import TypeError

_Option = tuple[str, bool | int | float | str, str]


def _parameters(made: Callable[..., Any]) -> list[inspect.Parameter]:
    """What it is called with by name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p for p in inspect.signature(made).parameters.values() if p.kind in named]


def _helps(made: Callable[..., Any]) -> dict[str, str]:
    function = made.__init__ if isinstance(made, type) else made  # type: ignore[misc]
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:  # names that exist for type checkers alone
        return {}
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return {name: note[0] for name, note in notes.items() if note and isinstance(note[0], str)}


def _options(name: str, made: Callable[..., Any], needs: int) -> list[_Option]:
    helps = _helps(made)
    options: list[_Option] = []
    for parameter in _parameters(made)[needs:]:
        initial = parameter.default
        if not isinstance(initial, (bool, int, float, str)):
            given = "no default" if initial is inspect.Parameter.empty else f"the default {initial!r}"
            raise TypeError(
                f"{name}: its parameter '{parameter.name}' has {given}; an option has one, which is "
                "a number, a flag or a text, and says of which type it is"
            )
        options.append((parameter.name, initial, helps.get(parameter.name, "")))
    return options


def _add(kind: str, name: str, made: Callable[..., Any], needs: int = 0) -> None:
    if not callable(made):
        raise TypeError(f"{kind} {name} is {made!r}; expected a class, or a function that makes one")
    words = inspect.cleandoc(made.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    summary = words.rstrip(".") or f"{getattr(made, '__name__', 'written')} in Python"
    _add_entry(kind, name, made, summary, _options(f"{kind} {name}", made, needs))


def numbers_of(part: object) -> list[tuple[str, float]]:
    """The attributes that have the name of a parameter of `__init__`, and are numbers as it is."""
    numbers = []
    for parameter in _parameters(type(part)):
        value = getattr(part, parameter.name, None)
        if type(value) is int and isinstance(parameter.default, float):
            value = float(value)
        if isinstance(value, float):
            numbers.append((parameter.name, value))
    return numbers


def add_optimizer(name: str, made: Callable[..., Optimizer]) -> None:
    """From now on the class is an optimizer like any other, by its name: in `d5.optimizer`, in
    recipes, `d5.check_optimizer`, and in the program with `--load FILE.py`.

        class Sgd(d5.Optimizer):
            "Stochastic gradient descent."                         # shown by d5 list

            def __init__(self, learning_rate: float = 0.01): ...   # its options, with defaults

        d5.add_optimizer("my-sgd", Sgd)

    A parameter's type may be Annotated[float, "what it does"]. Done again under the same name, as a
    notebook's cell is, the new class takes the old one's place, if its options are the same.
    """
    _add("optimizer", name, made)


def add_distributed_optimizer(name: str, made: Callable[..., DistributedOptimizer]) -> None:
    """As `add_optimizer`: `distributed.name=NAME` in a recipe."""
    _add("distributed optimizer", name, made)


def add_step_modifier(name: str, made: Callable[..., StepModifier]) -> None:
    """As `add_optimizer`: `modifiers=["NAME"]`, and `modifiers: [NAME]` in a recipe."""
    _add("step modifier", name, made)


def add_schedule(name: str, made: Callable[..., Schedule]) -> None:
    """As `add_optimizer`: `schedules={"learning_rate": "NAME"}`, and in a recipe."""
    _add("schedule", name, made)


def add_metric(name: str, made: Callable[..., Metric]) -> None:
    """As `add_optimizer`: `metrics=["NAME"]`, `metrics: {NAME: {}}` in a recipe, `--metrics NAME`."""
    _add("metric", name, made)


def add_dataset(name: str, made: Callable[..., Dataset | tuple[Dataset, Dataset] | DatasetPair]) -> None:
    """As `add_optimizer`, of what makes a training part, or that and a test part."""
    _add("dataset", name, made)


def add_sampler(name: str, made: Callable[..., Sampler]) -> None:
    """As `add_optimizer`, of what is called with a data set and its options."""
    _add("sampler", name, made, needs=1)
