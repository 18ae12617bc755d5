# SPDX-License-Identifier: Apache-2.0
"""Builders of JAX functions from nodes of ONNX's operators."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax_layers import batch_normalization, class_loss, gemm, layer_normalization, softmax
from jax_movements import (
    arg_extreme,
    clip,
    cumulative_sum,
    gather,
    reduction,
    reshape,
    slices,
    split,
)
from jax_planning import Function, MakeFunction, Plan, expect, output_shape
from jax_windows import average_pool, conv, max_pool

Attributes = dict[str, Any]


def elementwise(function: Function) -> MakeFunction:
    def plan_elementwise(plan: Plan) -> Function:
        expect(not plan.attributes, f"attributes {sorted(plan.attributes)}")
        shapes = {plan.shape(i) for i in range(plan.input_count)}
        expect(plan.node.opset >= 7 or len(shapes) == 1, "broadcasting before opset 7")
        return function

    return plan_elementwise


def from_attributes(make: Callable[[Attributes], Function]) -> MakeFunction:
    return lambda plan: make(plan.attributes)


def of_all(function: Function) -> Function:
    return lambda *xs: functools.reduce(function, xs)


def divide(x: Any, y: Any) -> Any:
    x, y = jnp.broadcast_arrays(x, y)
    return lax.div(x, y)  # integers are truncated towards zero


ELEMENTWISE: dict[str, Function] = {
    "Abs": jnp.abs, "Acos": jnp.arccos, "Acosh": jnp.arccosh, "Add": jnp.add, "And": jnp.logical_and,
    "Asin": jnp.arcsin, "Asinh": jnp.arcsinh, "Atan": jnp.arctan, "Atanh": jnp.arctanh,
    "BitwiseAnd": jnp.bitwise_and, "BitwiseNot": jnp.bitwise_not, "BitwiseOr": jnp.bitwise_or,
    "BitwiseXor": jnp.bitwise_xor, "Ceil": jnp.ceil, "Cos": jnp.cos, "Cosh": jnp.cosh, "Div": divide,
    "Equal": jnp.equal, "Erf": jax.scipy.special.erf, "Exp": jnp.exp, "Floor": jnp.floor,
    "Greater": jnp.greater, "GreaterOrEqual": jnp.greater_equal, "HardSwish": jax.nn.hard_swish,
    "Identity": lambda x: x, "IsNaN": jnp.isnan, "Less": jnp.less, "LessOrEqual": jnp.less_equal,
    "Log": jnp.log, "MatMul": jnp.matmul, "Max": of_all(jnp.maximum), "Min": of_all(jnp.minimum),
    "Mean": lambda *xs: functools.reduce(jnp.add, xs) / len(xs), "Mish": jax.nn.mish,
    "Mul": jnp.multiply, "Neg": jnp.negative, "Not": jnp.logical_not, "Or": jnp.logical_or,
    "PRelu": lambda x, slope: jnp.where(x < 0, x * slope, x),
    "Pow": lambda x, y: jnp.power(x, y).astype(x.dtype), "Reciprocal": lambda x: 1 / x,
    "Relu": jax.nn.relu, "Round": jnp.round, "Sigmoid": jax.nn.sigmoid, "Sign": jnp.sign,
    "Sin": jnp.sin, "Sinh": jnp.sinh, "Softplus": jax.nn.softplus, "Softsign": jax.nn.soft_sign,
    "Sqrt": jnp.sqrt, "Sub": jnp.subtract, "Sum": of_all(jnp.add), "Tan": jnp.tan, "Tanh": jnp.tanh,
    "Where": jnp.where, "Xor": jnp.logical_xor,
    "GlobalAveragePool": lambda x: x.mean(range(2, x.ndim), keepdims=True),
    "GlobalMaxPool": lambda x: x.max(range(2, x.ndim), keepdims=True),
}  # fmt: skip

WITH_ATTRIBUTES: dict[str, Callable[[Attributes], Function]] = {
    "Celu": lambda at: lambda x: jax.nn.celu(x, at.get("alpha", 1.0)),
    "Concat": lambda at: lambda *xs: jnp.concatenate(xs, at["axis"]),
    "Einsum": lambda at: lambda *xs: jnp.einsum(at["equation"], *xs),
    "Elu": lambda at: lambda x: jnp.where(x < 0, at.get("alpha", 1.0) * jnp.expm1(x), x),
    "Gelu": lambda at: lambda x: jax.nn.gelu(x, at.get("approximate") == "tanh"),
    "HardSigmoid": lambda at: (
        lambda x: jnp.clip(at.get("alpha", 0.2) * x + at.get("beta", 0.5), 0, 1)
    ),
    "LeakyRelu": lambda at: lambda x: jnp.where(x < 0, at.get("alpha", 0.01) * x, x),
    "Swish": lambda at: lambda x: x * jax.nn.sigmoid(at.get("alpha", 1.0) * x),
    "ThresholdedRelu": lambda at: lambda x: jnp.where(x > at.get("alpha", 1.0), x, 0),
    "Transpose": lambda at: lambda x: jnp.transpose(x, at.get("perm")),
}

OPERATORS: dict[str, MakeFunction] = {
    "ArgMax": arg_extreme(jnp.argmax), "ArgMin": arg_extreme(jnp.argmin),
    "AveragePool": average_pool, "BatchNormalization": batch_normalization,
    "Cast": lambda plan: lambda x: x.astype(plan.output_dtype(0)), "Clip": clip, "Conv": conv,
    "CumSum": cumulative_sum,
    "Expand": lambda plan: lambda x, _: jnp.broadcast_to(x, output_shape(plan)),
    "Flatten": reshape, "Gather": gather, "Gemm": gemm, "LayerNormalization": layer_normalization,
    "LogSoftmax": softmax(jax.nn.log_softmax), "MaxPool": max_pool,
    "NegativeLogLikelihoodLoss": class_loss(lambda scores: scores),
    "ReduceL1": reduction(lambda x, **how: jnp.abs(x).sum(**how)),
    "ReduceL2": reduction(lambda x, **how: jnp.sqrt((x * x).sum(**how))),
    "ReduceLogSum": reduction(lambda x, **how: jnp.log(x.sum(**how))),
    "ReduceLogSumExp": reduction(jax.nn.logsumexp), "ReduceMax": reduction(jnp.max),
    "ReduceMean": reduction(jnp.mean), "ReduceMin": reduction(jnp.min),
    "ReduceProd": reduction(jnp.prod), "ReduceSum": reduction(jnp.sum),
    "ReduceSumSquare": reduction(lambda x, **how: (x * x).sum(**how)),
    "Reshape": reshape, "Slice": slices, "Softmax": softmax(jax.nn.softmax),
    "SoftmaxCrossEntropyLoss": class_loss(functools.partial(jax.nn.log_softmax, axis=1)),
    "Split": split, "Squeeze": reshape, "Unsqueeze": reshape,
    **{name: elementwise(function) for name, function in ELEMENTWISE.items()},
    **{name: from_attributes(make) for name, make in WITH_ATTRIBUTES.items()},
}  # fmt: skip
