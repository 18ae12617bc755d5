# SPDX-License-Identifier: Apache-2.0
"""ONNX files of drawn layers, small enough to run in milliseconds."""

import numpy
import onnx
from onnx import helper, numpy_helper

LAYERS = ("conv", "batch_normalization", "relu", "pool", "residual", "gelu", "dropout")


def drawn_network(draw, path, classes=3):
    """An image network x {N, 2, 8, 8} -> y {N, classes} of three to six drawn layers."""
    numbers = numpy.random.default_rng(draw.randrange(2**32))
    nodes, initializers = [], []

    def constant(name, *shape, positive=False, scale=0.5):
        values = numbers.normal(size=shape) * scale
        initializers.append(
            numpy_helper.from_array((abs(values) + 0.5 if positive else values).astype("float32"), name)
        )
        return name

    def add(op, inputs, **attributes):
        output = f"t{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    x, channels, side = "x", 2, 8
    for i in range(draw.randint(3, 6)):
        layer = draw.choice(LAYERS)
        if layer == "conv":
            more = draw.choice((2, 3, 4))
            weights = constant(f"w{i}", more, channels, 3, 3), constant(f"b{i}", more)
            x = add("Conv", [x, *weights], kernel_shape=[3, 3], pads=[1] * 4)
            channels = more
        elif layer == "batch_normalization":
            statistics = [constant(f"{k}{i}", channels, positive=k == "v") for k in "sbmv"]
            x = add("BatchNormalization", [x, *statistics])
        elif layer == "relu":
            x = add("Relu", [x])
        elif layer == "pool" and side > 2:
            x = add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
            side //= 2
        elif layer == "residual":
            x = add("Add", [x, add("Tanh", [x])])
        elif layer == "gelu":
            half = add("Mul", [x, constant(f"half{i}", 1)])
            x = add("Mul", [half, add("Erf", [x])])
        elif layer == "dropout":
            x = add("Dropout", [x])
    flat = add("Flatten", [x])
    size = channels * side * side
    nodes.append(helper.make_node("Gemm", [flat, constant("w", size, classes, scale=size**-0.5), constant("b", classes)], ["y"]))
    graph = helper.make_graph(
        nodes,
        "drawn",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 2, 8, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", classes])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path
