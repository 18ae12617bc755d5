# SPDX-License-Identifier: Apache-2.0
"""Refuses an update rule that binds a name to a new array, which changes none of d5's."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, Callable

import numpy as np

from d5.errors import TypeError


def watched_update(update: Callable[..., Any], arguments: list[Any]) -> Any:
    """Calls a rule's `update` with the gradient, the value and the slots, and returns its result. Raises:
    TypeError for `value = value - gradient`: an argument whose name means another array at the end, and
    whose own elements are as before."""
    code = getattr(update, "__code__", None)
    if not isinstance(code, CodeType):  # no function of Python
        return update(*arguments)
    before = [one.numpy().copy() for one in arguments]
    last: dict[str, Any] = {}

    def keep_names(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            last.update(frame.f_locals)

    former = sys.getprofile()
    sys.setprofile(keep_names)
    try:
        result = update(*arguments)
    finally:
        sys.setprofile(former)
    own = hasattr(update, "__self__")  # the first argument, which the caller does not write
    names = code.co_varnames[own : code.co_argcount]
    for i, (name, given) in enumerate(zip(names, arguments)):
        is_bound = i > 0 and _is_another(last.get(name, given), given)  # the gradient may be
        if is_bound and np.array_equal(before[i], given.numpy(), equal_nan=True):
            raise TypeError(
                f"{update.__qualname__.rpartition('<locals>.')[2]}() binds '{name}' to a new array, and d5's stays "
                f"as it was; write in place: {name} -= ..., {name}[...] = ..."
            )
    return result


def _is_another(found: Any, given: Any) -> bool:
    """Whether it is neither the given tensor nor a view of its memory."""
    if found is given:
        return False
    try:
        return not np.may_share_memory(np.asarray(found), given.numpy())
    except Exception:  # A library that NumPy cannot see into made it.
        return False
