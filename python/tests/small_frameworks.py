# SPDX-License-Identifier: Apache-2.0
"""A framework in NumPy, and others made of a function or two, for tests."""

import itertools

import d5
from typing import Any

import numpy as np


class Relu(d5.Kernel):
    backward_reads_outputs = False

    def __init__(self, plan):
        if not plan.dtype(0).startswith("float"):
            raise d5.Unsupported(f"element type {plan.dtype(0)}")

    def forward(self, inputs):
        return np.maximum(inputs[0], 0)

    def backward(self, inputs, outputs, output_gradients):
        return output_gradients[0].numpy() * (inputs[0].numpy() > 0)


class MatMul(d5.Kernel):
    def __init__(self, plan):
        if len(plan.shape(0)) != 2 or len(plan.shape(1)) != 2:
            raise d5.Unsupported("anything but matrices")

    def forward(self, inputs):
        a, b = (x.numpy() for x in inputs)
        return a @ b

    def backward(self, inputs, outputs, output_gradients):
        (a, b), dy = (x.numpy() for x in inputs), output_gradients[0].numpy()
        return dy @ b.T, a.T @ dy


class Add(d5.Kernel):
    def __init__(self, plan):
        self.shapes = [plan.shape(i) for i in range(2)]

    def forward(self, inputs):
        return inputs[0].numpy() + inputs[1].numpy()

    def backward(self, inputs, outputs, output_gradients):
        dy = output_gradients[0].numpy()
        return [self.summed(dy, shape) for shape in self.shapes]

    @staticmethod
    def summed(dy, shape):
        dy = dy.sum(tuple(range(dy.ndim - len(shape))))
        return dy.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True).reshape(shape)


class NonZero(d5.Kernel):
    def __init__(self, plan):
        assert plan.output_shape(0) is None

    def forward(self, inputs):
        return np.array(np.nonzero(inputs[0].numpy()), dtype=np.int64)


def whole(plan):
    """A network of these functions in one call."""
    functions: dict[str, Any] = {"Relu": lambda x: np.maximum(x, 0), "MatMul": np.matmul, "Add": np.add, "Reshape": np.reshape}
    if plan.loss:
        raise d5.Unsupported("NumPy has no gradients")
    lacking = {node.node.op_type for node in plan.nodes} - {*functions}
    if lacking:
        raise d5.Unsupported(f"no {sorted(lacking)}")

    def run(inputs):
        values = {**plan.constants, **dict(zip(plan.input_names, inputs))}
        values = {name: value.numpy() for name, value in values.items()}
        for node in (planned.node for planned in plan.nodes):
            values[node.outputs[0]] = functions[node.op_type](*(values[name] for name in node.inputs))
        return tuple(values[name] for name in plan.output_names)

    return run


@d5.register
class NumPy(d5.Framework):
    name = "numpy"
    version = np.__version__
    kernels = {"Relu": Relu, "MatMul": MatMul, "Add": Add, "NonZero": NonZero}
    executors = {"whole": whole}


NAMES = itertools.count()


def framework_of(**kernels):
    """The name of a framework with these kernels; a function is one's forward, and no more."""

    def plan_of(function):
        kernel = type("Anonymous", (d5.Kernel,), {"forward": lambda self, inputs: function(inputs)})
        return lambda plan: kernel()

    class Small(d5.Framework):
        name = f"small{next(NAMES)}"
        version = "1"

    Small.kernels = {
        op: kernel if isinstance(kernel, type) else plan_of(kernel) for op, kernel in kernels.items()
    }
    d5.register(Small)
    return Small.name


def relu_of(framework, *more, dtype="float32", shape=(2,)):
    network = d5.Network("one")
    network.add_input("x", dtype, list(shape))
    network.add_node("Relu", ["x"], ["y"], name="r")
    network.add_output("y")
    return d5.executor(network, [framework, *more])


ONE = {"x": np.array([-1, 2], np.float32)}


def perceptron():
    random = np.random.default_rng(3)
    network = d5.Network("perceptron")
    network.add_input("x", "float32", [4, 3])
    network.add_parameter("w", random.standard_normal((3, 2)).astype(np.float32))
    network.add_parameter("b", random.standard_normal(2).astype(np.float32))
    network.add_node("MatMul", ["x", "w"], ["xw"])
    network.add_node("Add", ["xw", "b"], ["h"], name="add")
    network.add_node("Relu", ["h"], ["y"], name="relu")
    network.add_node("ReduceSum", ["y"], ["loss"], keepdims=0)
    network.add_output("loss")
    return network


X = np.random.default_rng(4).standard_normal((4, 3)).astype(np.float32)
