# SPDX-License-Identifier: Apache-2.0
"""Former names, for one release.

Each use warns with a DeprecationWarning.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any, Callable, TypeVar, cast

_KEYWORDS = {"network": "cluster", "set": "overrides", "axes": "ax"}
_NAMES = {
    "NetworkCalibration": "ClusterCalibration",
    "NetworkDescription": "ClusterDescription",
    "network_description": "cluster_description",
    "network_descriptions": "cluster_descriptions",
    "network_of_wire": "cluster_of_wire",
}

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _warn(former: str, present: str, frames: int) -> None:
    warnings.warn(f"{former} is {present} now", DeprecationWarning, stacklevel=frames + 2)


def present_keywords(keywords: dict[str, Any], known: set[str], frames: int) -> dict[str, Any]:
    """The keywords of a call, with the present ones for former ones that are not `known`.

    The warning is shown at the caller that is `frames` above.
    """
    words = dict(keywords)
    for former, present in _KEYWORDS.items():
        if former in words and former not in known and present in known and present not in words:
            _warn(f"{former}=", f"{present}=", frames + 1)
            words[present] = words.pop(former)
    return words


def takes_former_keywords(function: _Function) -> _Function:
    """`function`, which also takes the former keywords."""
    known = set(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **present_keywords(keywords, known, 1))

    return cast(_Function, call)


def is_former(module: Any, name: str) -> bool:
    """Whether `name` is a former one of something in `module`."""
    return _NAMES.get(name) in vars(module)


def of_module(module: Any, name: str) -> Any:
    """What a former name means in `module` (`is_former`)."""
    present = _NAMES[name]
    _warn(f"d5.{name}", f"d5.{present}", 2)
    return getattr(module, present)
