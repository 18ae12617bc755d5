# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling."""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_planning import Function, Plan, expect, output_shape


def window(plan: Plan, size: Sequence[int]) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Strides, dilations, and padding before and behind each spatial dimension."""
    at, count = plan.attributes, len(size)
    strides = at.get("strides", [1] * count)
    dilations = at.get("dilations", [1] * count)
    pads, same = at.get("pads", [0] * 2 * count), at.get("auto_pad", "NOTSET")
    if not same.startswith("SAME"):
        return strides, dilations, list(zip(pads[:count], pads[count:]))
    padding = []
    for n, k, step, dilation in zip(plan.shape(0)[2:], size, strides, dilations):
        total = max((math.ceil(n / step) - 1) * step + (k - 1) * dilation + 1 - n, 0)
        low = total // 2 if same == "SAME_UPPER" else total - total // 2
        padding.append((low, total - low))
    return strides, dilations, padding


def conv(plan: Plan) -> Function:
    strides, dilations, padding = window(plan, plan.shape(1)[2:])
    group = plan.attributes.get("group", 1)

    def run(x: Any, w: Any, b: Any = None) -> Any:
        y = lax.conv_general_dilated(
            x, w, strides, padding, rhs_dilation=dilations, feature_group_count=group
        )
        return y if b is None else y + b.reshape(-1, *[1] * len(strides))

    return run


def pool(plan: Plan, initial: float, combine: Function) -> tuple[Function, Function]:
    """Applies `combine` to the windows of an array, with the node's padding; a second result is for
    padding that counts as elements."""
    size = plan.attributes["kernel_shape"]
    strides, dilations, padding = window(plan, size)
    sizes = zip(plan.shape(0)[2:], output_shape(plan)[2:], size, strides, dilations, padding)
    # The last window may reach further than the padding (ceil_mode).
    ends = [(o - 1) * s + (k - 1) * d + 1 - n - p[0] for n, o, k, s, d, p in sizes]

    def windows(x: Any, pads: Sequence[tuple[int, int]]) -> Any:
        start = np.array(max(initial, np.iinfo(x.dtype).min) if x.dtype.kind in "iu" else initial)
        return lax.reduce_window(
            x, start.astype(x.dtype), combine, (1, 1, *size), (1, 1, *strides),
            [(0, 0), (0, 0), *pads], window_dilation=(1, 1, *dilations),
        )  # fmt: skip

    def padded(x: Any) -> Any:
        return windows(x, [(p[0], end) for p, end in zip(padding, ends)])

    def with_padding(x: Any) -> Any:
        x = jnp.pad(x, [(0, 0), (0, 0), *padding], constant_values=1)
        return windows(x, [(0, end - p[1]) for p, end in zip(padding, ends)])

    return padded, with_padding


def max_pool(plan: Plan) -> Function:
    expect(not plan.wants_output(1), "indices of MaxPool")
    return pool(plan, -math.inf, lax.max)[0]


def average_pool(plan: Plan) -> Function:
    total, with_padding = pool(plan, 0, lax.add)
    count = with_padding if plan.attributes.get("count_include_pad", 0) else total
    return lambda x: total(x) / count(jnp.ones((1, 1, *x.shape[2:]), x.dtype))
