# SPDX-License-Identifier: Apache-2.0
"""Products, normalizations, losses."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax_planning import Function, MakeFunction, Plan, expect


def gemm(plan: Plan) -> Function:
    at = plan.attributes
    alpha, beta = at.get("alpha", 1.0), at.get("beta", 1.0)
    expect(plan.node.opset >= 7, "Gemm before opset 7")

    def run(a: Any, b: Any, c: Any = None) -> Any:
        y = alpha * ((a.T if at.get("transA") else a) @ (b.T if at.get("transB") else b))
        return y if c is None else y + beta * c

    return run


def batch_normalization(plan: Plan) -> Function:
    at, opset = plan.attributes, plan.node.opset
    epsilon, momentum = at.get("epsilon", 1e-5), at.get("momentum", 0.9)
    trains = bool(at.get("training_mode", 0))
    expect(opset >= 9 and (trains or plan.output_count == 1), f"this form of opset {opset}")
    axes = [i for i in range(len(plan.shape(0))) if i != 1]
    channels = [1, -1, *[1] * (len(axes) - 1)]

    def run(x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        m, v = (x.mean(axes), x.var(axes)) if trains else (mean, variance)
        factor = scale / jnp.sqrt(v + epsilon)
        y = (x - m.reshape(channels)) * factor.reshape(channels) + bias.reshape(channels)
        running = [momentum * old + (1 - momentum) * new for old, new in ((mean, m), (variance, v))]
        return (y, *running)[: plan.output_count]

    return run


def layer_normalization(plan: Plan) -> Function:
    rank = len(plan.shape(0))
    axes = tuple(range(plan.attributes.get("axis", -1) % rank, rank))
    epsilon = plan.attributes.get("epsilon", 1e-5)

    def run(x: Any, scale: Any, bias: Any = None) -> Any:
        wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
        mean = wide.mean(axes, keepdims=True)
        inverse = 1 / jnp.sqrt(wide.var(axes, keepdims=True) + epsilon)
        y = ((wide - mean) * inverse).astype(x.dtype) * scale
        return (y if bias is None else y + bias, mean, inverse)[: plan.output_count]

    return run


def softmax(function: Function) -> MakeFunction:
    def plan_softmax(plan: Plan) -> Function:
        shape = plan.shape(0)
        if plan.node.opset >= 13:
            return functools.partial(function, axis=plan.attributes.get("axis", -1))
        axis = plan.attributes.get("axis", 1) % max(len(shape), 1)  # over all dimensions from there
        rows = math.prod(shape[:axis])
        return lambda x: function(x.reshape(rows, -1), axis=-1).reshape(shape)

    return plan_softmax


def class_loss(of_scores: Function) -> MakeFunction:
    """The losses by a label: `of_scores` makes log-probabilities of their first input."""

    def plan_loss(plan: Plan) -> Function:
        ignored, reduction = (plan.attributes.get(n) for n in ("ignore_index", "reduction"))

        def run(scores: Any, labels: Any, weight: Any = None) -> Any:
            logarithms = of_scores(scores)
            counts = jnp.ones(labels.shape, bool) if ignored is None else labels != ignored
            # An invalid class, including negative ones, makes the loss NaN.
            place = jnp.where(counts, labels, 0).astype(jnp.uint32)
            take = functools.partial(jnp.take_along_axis, mode="fill")
            share = counts.astype(scores.dtype)
            if weight is not None:
                share *= jnp.take(weight, place, mode="fill")
            loss = -take(logarithms, place[:, None], axis=1)[:, 0] * share
            if reduction != "none":
                loss = loss.sum() / (1 if reduction == "sum" else share.sum())
            return (loss, logarithms)[: plan.output_count]

        return run

    return plan_loss
