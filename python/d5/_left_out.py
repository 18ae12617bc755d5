# SPDX-License-Identifier: Apache-2.0
"""Explains names that d5 lacks because it was built without some optional parts."""

from d5 import _d5


def explain(name: str) -> object:
    buildings = ", ".join(_d5._left_out())
    raise AttributeError(f"module 'd5' has no attribute '{name}'; this d5 was built without {buildings}", name=name)
