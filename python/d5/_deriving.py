# SPDX-License-Identifier: Apache-2.0
"""Lets users derive from C++ classes as from any other."""

from __future__ import annotations

from typing import Any

from d5._nearest import expect_hooks


def let_derive(base: Any) -> None:
    """Derived classes need not call `super().__init__()`: the C++ part exists before `__init__`."""
    new, begin = base.__new__, base.__init__

    def made(derived: type, *_: Any, **__: Any) -> Any:
        part = new(derived)
        if derived is not base:
            begin(part)
        return part

    base.__new__ = staticmethod(made)
    base.__init_subclass__ = classmethod(expect_hooks)
