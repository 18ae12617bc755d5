# SPDX-License-Identifier: Apache-2.0
"""Named parts in Python: for recipes, `d5 list` and `--load FILE.py`."""

from __future__ import annotations

import copy
import inspect
import typing
from typing import Any, Callable, Mapping, TypeVar

from d5._bases import Operator, UpdateRule, own_name
from d5._bases import operator as _operator
from d5._d5 import _add_entry, _part_kinds
from d5._framework import Framework, add_framework
from d5._nearest import knows_its_keywords
from d5._parameters import shown
from d5.errors import NotFound, TypeError

_Option = tuple[str, bool | int | float | str, str]


def _parameters(made: Callable[..., Any]) -> list[inspect.Parameter]:
    """Its parameters that are given by keyword."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if isinstance(made, type):
        init = made.__init__  # type: ignore[misc]
        if not inspect.isfunction(init) or init.__module__ == "d5._d5":  # a class in C++ has it
            return []
        found = list(inspect.signature(made.__init__).parameters.values())[1:]  # type: ignore[misc]
    else:
        found = list(inspect.signature(made).parameters.values())
    return [p for p in found if p.kind in named]


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


def _add(kind: str, name: str, made: Callable[..., Any], needs: int) -> None:
    if not callable(made):
        raise TypeError(f"{kind} {name} is {made!r}; expected a class, or a function that makes one")
    words = inspect.cleandoc(made.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    summary = words.rstrip(".") or f"{getattr(made, '__name__', 'written')} in Python"
    _add_entry(kind, name, made, summary, _options(f"{kind} {name}", made, needs))


Made = TypeVar("Made", bound=Callable[..., Any])


def _kind_of(made: type) -> str:
    """Kind of the class, by its base class."""
    import d5

    bases = {getattr(d5, base): kind for kind, (base, _) in _part_kinds().items() if base}
    for one in made.__mro__:
        if one in bases:
            return bases[one]
    known = ", ".join(sorted(f"d5.{base.__name__}" for base in bases))
    raise TypeError(
        f"d5.register: {made.__name__} derives from no class whose parts have names; expected one of {known}"
    )


def _name_of(made: Callable[..., Any]) -> str:
    """Its attribute `name`, else its own name in lower case."""
    own = vars(made).get("name") if isinstance(made, type) else None
    return own if isinstance(own, str) and own else own_name(made)


registered_in_main: dict[str, Any] = {}
"""Parts of a script or a notebook, which ranks that it launches get, too."""


@typing.overload
def register(made: Made, /) -> Made: ...
@typing.overload
def register(made: str = ..., /, *, kind: str = ...) -> Callable[[Made], Made]: ...


@knows_its_keywords
def register(made: Any = "", /, *, kind: str = "") -> Any:
    """Class decorator: registers the part under its name, for recipes and settings, checkpoints,
    `d5 list`, and the program with `--load FILE.py`.

        @d5.register
        class HalfBatch(d5.BatchStep): ...                    # "half_batch"

        @d5.register("my-sgd")
        class Sgd(d5.Optimizer): ...

        @d5.register(kind="loss")
        def absolute(network, output, target, loss, scale: float = 1.0): ...

    The name is the given one, else the class's `name`, else its own in lower case. The base class
    defines the kind of part; a function needs `kind`: "model", "loss", "topology", "dataset" (a
    training part, or a training and a test part), "sampler", "optimizer", "metric". A framework is
    constructed at once, and has its own name. The options of a part are the parameters of
    `__init__`, or those of a function after the arguments of its kind; each has a default, and may
    be Annotated[float, "help"]. Registered again under the same name, as by a notebook's cell, the
    new part replaces the old one in what is made later, if its options are the same.
    """
    if not isinstance(made, str) and not callable(made):
        raise TypeError(f"d5.register: made is {shown(made)}, expected a class, a function with its kind, or a name")
    if not isinstance(made, str):
        return register(_name_of(made), kind=kind)(made)

    def add(part: Any) -> Any:
        name = made or _name_of(part)
        if getattr(part, "__module__", "") == "__main__":
            registered_in_main[name] = part
        if isinstance(part, type) and not kind and issubclass(part, Operator):
            return _operator(name)(part)
        if isinstance(part, type) and not kind and issubclass(part, Framework):
            add_framework(part())
            return part
        if not isinstance(part, type) and not kind:
            raise TypeError(f"d5.register: {name} is no class; say what it is, as in kind=\"loss\"")
        _add_kind(kind or _kind_of(part), name, part)
        return part

    return add


def _add_kind(kind: str, name: str, made: Callable[..., Any]) -> None:
    kinds = _part_kinds()
    if kind not in kinds:
        raise NotFound(f"d5.register: there is no kind '{kind}' of part; known are {', '.join(sorted(kinds))}")
    _add(kind, name, made, kinds[kind][1])


def is_update_rule(which: object) -> bool:
    """Whether it is a class of d5.UpdateRule, or an object of one."""
    return isinstance(which, UpdateRule) or (isinstance(which, type) and issubclass(which, UpdateRule))


def rule_entry(rule: Any) -> tuple[str, Callable[..., Any], list[_Option]]:
    """Name, maker and options of an update rule without a registered name. An object's attributes are
    the defaults of its options, and it is copied for each group of parameters."""
    made = rule if isinstance(rule, type) else type(rule)
    name = made.__name__
    if made is rule:
        return name, rule, _options(f"update rule {name}", made, 0)
    parameters = [one.name for one in _parameters(made) if isinstance(getattr(rule, one.name, None), (bool, int, float, str))]
    helps = _helps(made)

    def another(**options: Any) -> Any:
        one = copy.copy(rule)
        for option, value in options.items():
            setattr(one, option, value)
        return one

    return name, another, [(option, getattr(rule, option), helps.get(option, "")) for option in parameters]


def add_of_framework(
    framework: str, executors: Mapping[str, Callable[..., Any]], optimizers: Mapping[str, Callable[..., Any]]
) -> None:
    """The framework's own parts."""
    for name, made in executors.items():
        _add_kind("executor", f"{framework}:{name}", made)
    for name, made in optimizers.items():
        _add_kind("native optimizer", f"{framework}/{name}", made)


def numbers_of(part: object) -> list[tuple[str, float]]:
    """Numeric attributes that have the name of a parameter of `__init__`."""
    numbers = []
    for parameter in _parameters(type(part)):
        value = getattr(part, parameter.name, None)
        if type(value) is int and isinstance(parameter.default, float):
            value = float(value)
        if isinstance(value, float):
            numbers.append((parameter.name, value))
    return numbers
