# SPDX-License-Identifier: Apache-2.0
"""Dicts that d5 gives: an unknown name is an error with the nearest, and an assignment that would be lost
is refused."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, NoReturn

from d5._nearest import hint
from d5.errors import NotFound, TypeError


class NamedValues(dict[str, Any]):
    """A dict whose unknown name is an error with the nearest."""

    _what = "output"

    def __missing__(self, name: object) -> NoReturn:
        refuse_name(self._what, name, list(map(str, self)))


class ReadOnlyValues(NamedValues):
    """A copy, which nobody reads: changes are refused, with what to do instead."""

    def __init__(self, values: dict[str, Any], who: str, what: str, instead: str) -> None:
        super().__init__(values)
        self._who, self._what, self._instead = who, what, instead

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"{self._who} cannot be changed: changes of a copy would be lost; {self._instead}")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse


_CHANGES = "is a copy that can be changed"


def outputs_of_hook(outputs: dict[str, Any]) -> ReadOnlyValues:
    return ReadOnlyValues(outputs, "a hook's outputs", "output", f"dict(outputs) {_CHANGES}")


def refuse_name(what: str, name: object, names: list[str]) -> NoReturn:
    """Raises: NotFound, with the nearest and all names."""
    raise NotFound(f"there is no {what} {name!r}; {hint(str(name), names, 'there are')}")


#: What to do instead of an assignment to a property's copy.
_INSTEAD = {
    "Batch.values": "write into its array: batch[name].numpy()[...] = values",
    "BoundOptimizer.hyper_parameters": "optimizer.set_hyper_parameter(name, value) sets one",
    "Checkpoint.tensors": "d5.Checkpoint({**checkpoint.tensors, name: array}, ...) is another checkpoint",
    "Recipe.values": 'recipe.set("training.epochs=2") sets one, recipe.changed("training.epochs=2") gives a copy',
}  # fmt: skip


def guard_copies(module: Any) -> None:
    """Makes the dicts of properties, which are copies, read-only."""
    for made in vars(module).values():
        if not isinstance(made, type):
            continue
        for name, one in list(vars(made).items()):
            if isinstance(one, property) and re.search(r"-> dict\[", getattr(one.fget, "__doc__", "") or ""):
                setattr(made, name, property(_guarded(one.fget, made, name), one.fset, None, one.__doc__))


def _guarded(read: Any, made: type, name: str) -> Callable[[Any], ReadOnlyValues]:
    who = f"d5.{made.__name__}.{name}"
    instead = _INSTEAD.get(f"{made.__name__}.{name}", f"dict({name}) {_CHANGES}")

    @functools.wraps(read)
    def guarded(self: Any) -> ReadOnlyValues:
        return ReadOnlyValues(read(self), who, f"entry of {who}", instead)

    return guarded
