# SPDX-License-Identifier: Apache-2.0
"""Refuses an update rule that binds a name to a new array, which changes none of d5's."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any, Callable

import numpy as np

from d5.errors import TypeError


def watched_update(update: Callable[..., Any], arguments: list[Any]) -> Any:
    """Calls a rule's `update` with the gradient, the value and the slots, and returns its result. Raises:
    TypeError for `value = value - gradient`: a name of the value or of a slot that means another array at the
    end, while their own elements are as before. Names are watched after each instruction, because those of
    `*slots` are the rule's own. In a debugger, which watches too, nothing is refused."""
    code = getattr(update, "__code__", None)
    if not isinstance(code, CodeType) or sys.gettrace() is not None:  # no function of Python
        return update(*arguments)
    before = [one.numpy().copy() for one in arguments]
    places: dict[str, int] = {}  # arguments by the names that they had
    last: dict[str, Any] = {}

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal last
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        former, last = last, _arrays(frame.f_locals)
        for name, found in last.items():
            place = -1 if found is former.get(name) else _place(found, arguments)
            if place > 0:  # the gradient may be bound again
                places[name] = place
        return watch

    sys.settrace(watch)
    try:
        result = update(*arguments)
    finally:
        sys.settrace(None)
    for name, place in places.items():
        is_bound = name in last and _place(last[name], arguments) < 0
        if is_bound and np.array_equal(before[place], arguments[place].numpy(), equal_nan=True):
            raise TypeError(
                f"{update.__qualname__.rpartition('<locals>.')[2]}() binds '{name}' to a new array, and d5's stays "
                f"as it was; write in place: {name} -= ..., {name}[...] = ..."
            )
    return result


def _arrays(names: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays and numbers by the names that mean them: "value", "slots[0]"."""
    several = {name: found for name, found in names.items() if isinstance(found, (list, tuple))}
    inner = {f"{name}[{i}]": one for name, found in several.items() for i, one in enumerate(found)}
    return {name: found for name, found in {**names, **inner}.items() if hasattr(found, "__array__") or isinstance(found, (int, float))}


def _place(found: Any, arguments: list[Any]) -> int:
    """The argument that it is, or whose memory it shows; -1 if it is another array."""
    for place, given in enumerate(arguments):
        if found is given:
            return place
    try:
        seen = np.asarray(found)
        shared = (place for place, given in enumerate(arguments) if np.may_share_memory(seen, given.numpy()))
        return next(shared, -1)
    except Exception:  # A library that NumPy cannot see into made it.
        return 0
