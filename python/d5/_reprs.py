# SPDX-License-Identifier: Apache-2.0
"""Shows objects of the C++ part that have no words of their own by their plain properties."""

from __future__ import annotations

from typing import Any

_PLAIN = (bool, int, float, str)
_MOST, _LONGEST = 6, 60  # properties, letters of one


def show_all(module: Any) -> None:
    """Gives a `__repr__` to every class of the module that inherits object's."""
    for made in vars(module).values():
        if isinstance(made, type) and not any("__repr__" in vars(base) for base in made.__mro__ if base is not object):
            setattr(made, "__repr__", _shown)


def _shown(self: Any) -> str:
    """`<d5.BlockFit bytes=1024, name='conv1'>`."""
    kind = type(self)
    own = kind.__module__.startswith("d5.")
    properties = {name: one for base in reversed(kind.__mro__) for name, one in vars(base).items() if isinstance(one, property)}
    words: list[str] = []
    for name in properties:
        if name.startswith("_") or len(words) == _MOST:
            continue
        try:
            value = getattr(self, name)
        except Exception:  # lent memory that is over, a method that its class lacks
            continue
        if isinstance(value, _PLAIN) and len(repr(value)) <= _LONGEST:
            words.append(f"{name}={value!r}")
    inside = f" {', '.join(words)}" if words else ""
    return f"<{'d5.' if own else ''}{kind.__name__}{inside}>"
