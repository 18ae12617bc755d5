# SPDX-License-Identifier: Apache-2.0
"""Explains names that d5 lacks because it was built without some optional parts, and loads what few need."""

import importlib
import sys

from d5 import _d5, _former, _nearest


def explain(name: str) -> object:
    if name == "nodes":  # a class for each operator
        return importlib.import_module("d5.nodes")
    buildings = ", ".join(_d5._left_out())
    module = sys.modules["d5"]
    if _former.is_former(module, name):
        return _former.of_module(module, name)
    without = f"; this d5 was built without {buildings}" if buildings else ""
    near = "" if name.startswith("_") else _nearest.meant(name, [one for one in vars(module) if not one.startswith("_")])
    raise AttributeError(f"module 'd5' has no attribute '{name}'{near}{without}", name=name)
