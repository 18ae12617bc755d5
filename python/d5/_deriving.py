# SPDX-License-Identifier: Apache-2.0
"""Classes of the C++ part that users derive from as from any other."""

from __future__ import annotations

from typing import Any


def let_derive(base: Any) -> None:
    """A derived class need not call `super().__init__()`: its C++ part is there before `__init__`."""
    new, begin = base.__new__, base.__init__

    def made(derived: type, *_: Any, **__: Any) -> Any:
        part = new(derived)
        if derived is not base:
            begin(part)
        return part

    base.__new__ = staticmethod(made)
