# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the operators: reading a node, and refusing it."""

from collections.abc import Callable
from typing import Any

import d5

Function = Callable[..., Any]  # takes arrays; returns one, or a tuple
Plan = d5.PlanContext
MakeFunction = Callable[[Plan], Function]


def expect(condition: bool, what: str) -> None:
    """Refuses an unsupported node during planning, so that the next framework gets it."""
    if not condition:
        raise d5.Unsupported(what)


def output_shape(plan: Plan, index: int = 0) -> tuple[int, ...]:
    shape = plan.output_shape(index)
    if shape is None:
        raise d5.Unsupported("a shape that is known only at run time")
    return shape


def integers(plan: Plan, index: int) -> list[int] | None:
    """The numbers of an input that decides a shape; None if it is omitted."""
    if not plan.has_input(index):
        return None
    value = plan.constant(index)
    if value is None:
        raise d5.Unsupported(f"input {index} that only running tells")
    return [int(i) for i in value.numpy().ravel()]
