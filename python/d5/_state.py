# SPDX-License-Identifier: Apache-2.0
"""State of a part in Python, as a checkpoint stores it: arrays by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from d5.errors import ValueError


def flat(state: dict[Any, Any], who: str) -> dict[str, Any]:
    """Flattens nested dicts into one, with slashes between names."""
    arrays: dict[str, Any] = {}
    for key, value in state.items():
        if not isinstance(key, str):
            raise ValueError(f"{who}: its state has the key {key!r}; expected names, as a checkpoint keeps them")
        name = key.replace("%", "%25").replace("/", "%2F")
        if isinstance(value, dict):
            arrays.update({f"{name}/{inner}": array for inner, array in flat(value, who).items()})
        else:
            arrays[name] = value
    return arrays


def nested(arrays: dict[str, Any]) -> dict[str, Any]:
    """Inverse of `flat`: NumPy arrays, and numbers for those without dimensions."""
    state: dict[str, Any] = {}
    for path, tensor in arrays.items():
        *outer, name = (part.replace("%2F", "/").replace("%25", "%") for part in path.split("/"))
        place = state
        for key in outer:
            place = place.setdefault(key, {})
        array = np.asarray(tensor)
        place[name] = array if array.ndim else array.item()
    return state
