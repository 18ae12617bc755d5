# SPDX-License-Identifier: Apache-2.0
"""What the operators share: how a node's parts are read, and how it is refused."""

from collections.abc import Callable
from typing import Any

import d5

Function = Callable[..., Any]  # of arrays; gives one, or a tuple
Plan = d5.PlanContext
MakeFunction = Callable[[Plan], Function]


def expect(condition: bool, what: str) -> None:
    """What is not there is refused while planning: the next framework gets the node."""
    if not condition:
        raise d5.Unsupported(what)


def output_shape(plan: Plan, index: int = 0) -> tuple[int, ...]:
    shape = plan.output_shape(index)
    if shape is None:
        raise d5.Unsupported("a shape that is known only at run time")
    return shape


def integers(plan: Plan, index: int) -> list[int] | None:
    """Those of an input that decides a shape; None where it is left out."""
    if not plan.has_input(index):
        return None
    value = plan.constant(index)
    if value is None:
        raise d5.Unsupported(f"input {index} that only running tells")
    return [int(i) for i in value.numpy().ravel()]
