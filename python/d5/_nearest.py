# SPDX-License-Identifier: Apache-2.0
"""Refuses names that there are not, with the nearest: keywords, attributes, hooks, fields. Refuses hooks
that do not take their arguments."""

from __future__ import annotations

import builtins
import functools
import inspect
import re
from collections.abc import Collection, Mapping
from difflib import SequenceMatcher
from typing import Any, Callable, Iterable, ParamSpec, TypeVar

from d5.errors import TypeError, UnknownOption

P = ParamSpec("P")
R = TypeVar("R")

_MOST_KNOWN = 40  # names in a message
_MISSPELT = 0.82  # share of equal letters from which a method is taken for a misspelt hook
#: What other libraries call a hook.
_OTHER_WORDS = {"infer_shape": "infer", "infer_shapes": "infer", "shape_inference": "infer"}


def expect_known(who: str, what: str, name: str, known: Iterable[str]) -> None:
    """Raises: UnknownOption, if `name` is none of `known`: "d5.bench has no keyword 'sample'; ..."."""
    names = list(known)
    if name not in names:
        raise UnknownOption(f"{who} has no {what} '{name}'; {hint(name, names, 'it takes')}")


def hint(name: str, names: list[str], having: str) -> str:
    """The nearest names, and all: "did you mean 'samples'? It takes samples, seed", where `having` is "it takes"."""
    nearest = " or ".join(f"'{one}'" for one in _nearest(name, names))
    takes = f"{having} {', '.join(names) or 'none'}" if len(names) <= _MOST_KNOWN else f"{len(names)} are known"
    return f"did you mean {nearest}? {takes[0].upper()}{takes[1:]}" if nearest else takes


def _nearest(name: str, names: list[str]) -> list[str]:
    from d5._d5 import _nearest_names  # which imports this while it is made

    return _nearest_names(name, names)


def meant(name: str, names: list[str]) -> str:
    """The end of a message: "; did you mean 'samples'?", or nothing."""
    nearest = " or ".join(f"'{one}'" for one in _nearest(name, names))
    return f"; did you mean {nearest}?" if nearest else ""


def is_slip(given: str, meant: str) -> bool:
    """Whether a word is another with a letter more, fewer, changed or swapped with its neighbour, or in another
    case. Words that differ in their numbers are others."""
    a, b = (word.lower().replace("-", "_") for word in (given, meant))
    if re.sub(r"\d", "", a) == re.sub(r"\d", "", b):
        return re.sub(r"\D", "", a) == re.sub(r"\D", "", b)
    same = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    a, b = a[same:], b[same:]
    return min(len(given), len(meant)) > 2 and (a[1:] in (b, b[1:]) or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:]))


def with_one_framework_word(who: str, keywords: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The keywords of a call with the one of `framework` and `frameworks` that it knows. Raises: TypeError for
    both."""
    words = dict(keywords)
    for given, meant in (("framework", "frameworks"), ("frameworks", "framework")):
        if given in words and given not in known and meant in known:
            if meant in words:
                raise TypeError(f"{who}: framework and frameworks are one keyword; give one of them")
            words[meant] = words.pop(given)
    return words


def knows_its_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: a call with an unknown keyword, without a needed argument, or with one of another type is
    refused as by the functions of the C++ part."""
    from d5._parameters import expect_filled, fault, parameters_of

    parameters = parameters_of(function)
    known = [one.name for one in parameters if not one.is_mark and not one.takes_all]
    module = re.sub(r"\._(torch)?.*", lambda found: f".{found[1]}" if found[1] else "", function.__module__)
    who = f"{module}.{function.__qualname__}".removesuffix(".__init__")
    own = int(bool(known) and known[0] == "self")  # arguments that the caller does not write

    @functools.wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        words = with_one_framework_word(who, keywords, known)
        if "framework" in known and isinstance(words.get("framework"), (list, tuple)):
            expect_filled(who, parameters[own:], arguments[own:], words)
            words["framework"] = ",".join(words["framework"])
        wrong = fault(who, parameters[own:], arguments[own:], words)
        if wrong:
            raise TypeError(wrong)
        expect_filled(who, parameters[own:], arguments[own:], words)
        return function(*arguments, **words)

    return call


def answer_attributes(module: Any) -> None:
    """Gives the module's classes an AttributeError with the nearest name: `executor.netwrk`."""
    for made in list(vars(module).values()):
        if isinstance(made, type) and not issubclass(made, BaseException) and not hasattr(made, "__getattr__"):
            setattr(made, "__getattr__", _refuse_attribute)


def _refuse_attribute(self: Any, name: str) -> Any:
    kind = type(self)
    who = f"{'d5.' if kind.__module__.startswith('d5.') else ''}{kind.__name__}"
    if name.startswith("_"):  # libraries ask for these
        raise AttributeError(f"{who} has no attribute '{name}'")
    names = [one for one in dir(kind) if not one.startswith("_")]
    way_out = meant(name, names) or f"; dir({who}) lists all"
    raise AttributeError(f"{who} has no attribute '{name}'{way_out}")


def keep_attributes(made: type) -> None:
    """Refuses to set an attribute that the class does not have, on its own objects: one of a derived class has
    its own. Raises: AttributeError with the nearest name."""
    usual: Any = made.__setattr__

    def set_attribute(self: Any, name: str, value: Any) -> None:
        known = getattr(made, name, None)
        if type(self) is made and not name.startswith("_") and not isinstance(known, property):
            if known is None:
                _refuse_attribute(self, name)
            raise AttributeError(f"d5.{made.__name__}.{name} is a method, which cannot be replaced; derive a class that has another")
        usual(self, name, value)

    setattr(made, "__setattr__", set_attribute)


def expect_hooks(made: type, *_: Any, **__: Any) -> None:
    """Raises: UnknownOption for a method of the class that misspells one of d5's base classes; TypeError for
    one that cannot be called with its arguments."""
    known: dict[str, type] = {}
    for base in made.__mro__[1:]:
        if base.__module__.startswith("d5."):
            hooks = [name for name, one in vars(base).items() if callable(one)]
            known = {**dict.fromkeys([*hooks, *vars(base).get("_hooks", "").split()], base), **known}
    for name, method in vars(made).items():
        if name in known and not name.startswith("_") and inspect.isfunction(method):
            _expect_plain(made, name, method)
            _expect_arguments(made, name, method, known[name])
    free = [name for name in known if name not in vars(made) and not name.startswith("_")]
    for name, method in vars(made).items():
        if name.startswith("_") or not inspect.isfunction(method) or hasattr(super(made, made), name):
            continue
        for hook in [_OTHER_WORDS.get(name, ""), *_nearest(name, free)]:
            if hook in free and (name in _OTHER_WORDS or _is_misspelt(name, hook)):
                raise UnknownOption(
                    f"class {made.__name__}: d5.{known[hook].__name__} has no method '{name}'; did you mean "
                    f"'{hook}'? One of your own may be called _{name}"
                )


def _is_misspelt(name: str, hook: str) -> bool:
    return SequenceMatcher(None, name, hook).ratio() >= _MISSPELT or sorted(name) == sorted(hook)


def _expect_attributes(made: type) -> None:
    """Raises: UnknownOption for a class attribute that misspells one of d5's base classes, and could be its value."""
    known: dict[str, tuple[type, Any]] = {}
    for base in reversed(made.__mro__[1:]):
        if base.__module__.startswith("d5."):
            values = {name: one for name, one in vars(base).items() if isinstance(one, (str, tuple))}
            known |= {name: (base, one) for name, one in values.items() if not name.startswith("_")}
    own = vars(made)
    for name, value in own.items():
        if name.startswith("_") or hasattr(super(made, made), name):
            continue
        for hook, (base, usual) in known.items():
            kinds = str if isinstance(usual, str) else (tuple, list)
            if hook not in own and isinstance(value, kinds) and is_slip(name, hook):
                raise UnknownOption(
                    f"class {made.__name__}: d5.{base.__name__} has no attribute '{name}'; did you mean '{hook}'? One "
                    f"of your own may be called _{name}"
                )


def _expect_plain(made: type, name: str, method: Callable[..., Any]) -> None:
    """Raises: TypeError for a generator or a coroutine, whose body would not run when d5 calls it."""
    words = {"yield": inspect.isgeneratorfunction, "async": inspect.iscoroutinefunction, "async and yield": inspect.isasyncgenfunction}
    for word, is_so in words.items():
        if is_so(method):
            raise TypeError(f"class {made.__name__}: d5 would never run the body of {name}; write it without {word}")


def _expect_arguments(made: type, name: str, method: Callable[..., Any], base: type) -> None:
    hook = vars(base).get(name)
    if not inspect.isfunction(hook) or hasattr(hook, "__wrapped__"):  # a method in C++
        return
    taken = list(inspect.signature(hook).parameters.values())
    own = inspect.signature(method)
    names, places = [one.name for one in taken], list(own.parameters)
    swapped = [one for one in names if one in places and places.index(one) != names.index(one)]
    if len(swapped) > 1:
        raise TypeError(
            f"class {made.__name__}: {name} takes ({', '.join(places)}) in another order than d5.{base.__name__}, which "
            f"calls {name}({', '.join(names[1:])})"
        )
    if any(one.kind is one.VAR_POSITIONAL for one in taken):  # each class takes its own
        return
    try:
        own.bind(*taken)
    except builtins.TypeError:
        raise TypeError(
            f"class {made.__name__}: {name} takes ({', '.join(own.parameters)}), and d5.{base.__name__} calls "
            f"{name}({', '.join(one.name for one in taken)})"
        ) from None


class Hooked:
    """Base of base classes whose methods d5 calls by their names."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        expect_hooks(cls)
        _expect_attributes(cls)
