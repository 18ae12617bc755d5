# SPDX-License-Identifier: Apache-2.0
"""Makes operators in Python for their nodes: a node's attributes are keywords of `__init__`."""

from __future__ import annotations

import inspect
import types
from typing import Any, Callable

from d5._nearest import expect_known
from d5.errors import TypeError


def made_for_node(made: Any, attributes: dict[str, Any]) -> Any:
    """An instance of the operator's class. Called by the C++ part for each node.

    Raises: UnknownOption for an attribute that the class does not take, TypeError for one that it
    lacks, or of another type than its default.
    """
    operator: Any = made.__new__(made)
    operator.attributes = attributes
    begin: Callable[..., None] = operator.__init__
    if not inspect.ismethod(begin):  # object's
        if not _reads_attributes(made):
            for name in attributes:
                expect_known(f"operator {made.__name__}", "attribute", name, ())
        return operator
    parameters = list(inspect.signature(begin).parameters.values())
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        begin(**attributes)
        return operator
    known = {one.name: one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    if known or not _reads_attributes(made):
        for name in attributes:
            expect_known(f"operator {made.__name__}", "attribute", name, known)
    for name, one in known.items():
        if one.default is one.empty and name not in attributes:
            raise TypeError(f"operator {made.__name__} lacks the attribute '{name}'; give it, as {name}=...")
    begin(**{name: _as_its_default(made, known[name], value) for name, value in attributes.items() if name in known})
    return operator


def _as_its_default(made: type, parameter: inspect.Parameter, value: Any) -> Any:
    """ONNX has neither flags nor whole numbers that are real."""
    default = parameter.default
    if isinstance(default, bool) and value in (0, 1):
        return bool(value)
    if isinstance(default, float) and isinstance(value, int):
        return float(value)
    if isinstance(default, (bool, int, float, str)) and not isinstance(value, type(default)):
        raise TypeError(
            f"operator {made.__name__}: attribute '{parameter.name}' is {value!r}, expected a {type(default).__name__}, "
            f"like its default {default!r}"
        )
    return value


def _reads_attributes(made: type) -> bool:
    """Whether one of its methods takes the attributes from `self.attributes`."""
    methods = [one for base in made.__mro__ for one in vars(base).values() if inspect.isfunction(one)]
    return any(_names_them(inspect.unwrap(method).__code__) for method in methods)


def _names_them(code: types.CodeType) -> bool:
    within = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return "attributes" in (*code.co_names, *code.co_consts) or any(map(_names_them, within))
