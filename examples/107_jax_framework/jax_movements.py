# SPDX-License-Identifier: Apache-2.0
"""Reductions, and operators that move elements."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_planning import Function, MakeFunction, Plan, expect, integers, output_shape


def reduction(function: Function) -> MakeFunction:
    def plan_reduction(plan: Plan) -> Function:
        at = plan.attributes
        axes = at.get("axes") or integers(plan, 1)
        if not axes:
            axes = [] if at.get("noop_with_empty_axes") else range(len(plan.shape(0)))
        keep = bool(at.get("keepdims", 1))
        return lambda x, _=None: function(x, axis=tuple(axes), keepdims=keep)

    return plan_reduction


def arg_extreme(function: Function) -> MakeFunction:
    def plan_extreme(plan: Plan) -> Function:
        axis, keep = plan.attributes.get("axis", 0), bool(plan.attributes.get("keepdims", 1))
        first = functools.partial(function, axis=axis, keepdims=keep)
        if not plan.attributes.get("select_last_index"):
            return first
        return lambda x: plan.shape(0)[axis] - 1 - first(jnp.flip(x, axis))

    return plan_extreme


def reshape(plan: Plan) -> Function:
    shape = output_shape(plan)
    return lambda x, *_: x.reshape(shape)


def split(plan: Plan) -> Function:
    axis = plan.attributes.get("axis", 0)
    sizes = [output_shape(plan, k)[axis] for k in range(plan.output_count)]
    return lambda x, *_: tuple(jnp.split(x, np.cumsum(sizes)[:-1], axis))


def slices(plan: Plan) -> Function:
    at = plan.attributes
    starts, ends = (at.get(name) or integers(plan, i) for i, name in ((1, "starts"), (2, "ends")))
    axes = at.get("axes") or integers(plan, 3) or list(range(len(starts or [])))
    steps = integers(plan, 4) or [1] * len(axes)
    parts = [slice(None)] * len(plan.shape(0))
    for start, end, axis, step in zip(starts or [], ends or [], axes, steps):
        n = plan.shape(0)[axis]
        last = None if step < 0 and end < -n else end  # before the first element
        parts[axis] = slice(start, last, step)
    return lambda x, *_: x[tuple(parts)]


def gather(plan: Plan) -> Function:
    axis = plan.attributes.get("axis", 0)
    expect("float" in plan.dtype(0), "Gather of what has no NaN")
    size = plan.shape(0)[axis]

    def run(x: Any, places: Any) -> Any:  # one outside of the range gives NaN
        places = jnp.where(places < 0, places + size, places).astype(jnp.uint32)
        return jnp.take(x, places, axis=axis, mode="fill")

    return run


def clip(plan: Plan) -> Function:
    low, high = (plan.attributes.get(name) for name in ("min", "max"))  # until opset 10
    return lambda x, low=low, high=high: jnp.clip(x, low, high)


def cumulative_sum(plan: Plan) -> Function:
    (axis,) = integers(plan, 1) or [0]
    backwards, exclusive = (plan.attributes.get(name, 0) for name in ("reverse", "exclusive"))

    def run(x: Any, _: Any) -> Any:
        y = lax.cumsum(x, axis % x.ndim, reverse=bool(backwards))
        return y - x if exclusive else y

    return run
