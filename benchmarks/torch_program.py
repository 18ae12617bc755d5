# SPDX-License-Identifier: Apache-2.0
"""An ONNX file as handwritten torch functions for its nodes, in their order; inference alone."""

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


def padded(x, pads, value):
    """Converts pads of ONNX, begins and then ends, to torch's: one number per dimension; unequal pads are added to x first."""
    half = len(pads) // 2
    begins, ends = pads[:half], pads[half:]
    if list(begins) == list(ends):
        return x, tuple(begins)
    around = [n for begin, end in zip(reversed(begins), reversed(ends)) for n in (begin, end)]
    return F.pad(x, around, value=value), (0,) * half


def conv(given, x, w, b=None):
    x, pads = padded(x, given.get("pads", [0] * 4), 0.0)
    return F.conv2d(x, w, b, given.get("strides", 1), pads, given.get("dilations", 1), given.get("group", 1))


def pooled(function, border, **more):
    def pool(given, x):
        x, pads = padded(x, given.get("pads", [0] * 4), border)
        return function(x, given["kernel_shape"], given.get("strides", 1), pads, ceil_mode=bool(given.get("ceil_mode", 0)), **more)

    return pool


def gemm(given, a, b, c=None):
    return F.linear(a, b if given.get("transB") else b.T, c)


def reshape(given, x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape.tolist())])


def softmax(given, x):
    if given["opset"] >= 13:
        return x.softmax(given.get("axis", -1))
    return x.flatten(given.get("axis", 1)).softmax(1).reshape(x.shape)


FUNCTIONS = {
    "Add": lambda given, a, b: a + b,
    "AveragePool": pooled(F.avg_pool2d, 0.0, count_include_pad=False),
    "BatchNormalization": lambda given, x, scale, shift, mean, variance: F.batch_norm(
        x, mean, variance, scale, shift, eps=given.get("epsilon", 1e-5)),
    "Concat": lambda given, *x: torch.cat(x, given["axis"]),
    "ConstantOfShape": lambda given, shape: torch.full(
        shape.tolist(), numpy_helper.to_array(given["value"]).item() if "value" in given else 0.0),
    "Conv": conv,
    "Dropout": lambda given, x, *rest: x,
    "Flatten": lambda given, x: x.flatten(given.get("axis", 1)),
    "Gather": lambda given, x, places: F.embedding(places, x),
    "Gemm": gemm,
    "GlobalAveragePool": lambda given, x: x.mean((2, 3), keepdim=True),
    "LRN": lambda given, x: F.local_response_norm(
        x, given["size"], given.get("alpha", 1e-4), given.get("beta", 0.75), given.get("bias", 1.0)),
    "LayerNormalization": lambda given, x, scale, shift=None: F.layer_norm(
        x, scale.shape, scale, shift, given.get("epsilon", 1e-5)),
    "MatMul": lambda given, a, b: a @ b,
    "MaxPool": pooled(F.max_pool2d, float("-inf")),
    "Mul": lambda given, a, b: a * b,
    "Relu": lambda given, x: x.relu(),
    "Reshape": reshape,
    "Softmax": softmax,
    "Sum": lambda given, *x: sum(x[1:], x[0]),
    "Transpose": lambda given, x: x.permute(given["perm"]),
}


class Program(torch.nn.Module):
    """A function with inputs by position and outputs as a tuple. Raises KeyError for an operator that is not in FUNCTIONS."""

    def __init__(self, file):
        super().__init__()
        model = onnx.load(file)
        opset = next(known.version for known in model.opset_import if known.domain in ("", "ai.onnx"))
        self.known = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in self.known]
        self.outputs = [o.name for o in model.graph.output]
        self.calls = []
        for node in model.graph.node:
            given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute} | {"opset": opset}
            call = FUNCTIONS[node.op_type], given, list(node.input), node.output[0]
            if all(name in self.known for name in node.input):  # constants are computed once
                self.known[call[3]] = call[0](given, *(self.known[name] for name in node.input))
            else:
                self.calls.append(call)

    def forward(self, *inputs):
        values = self.known | dict(zip(self.inputs, inputs))
        for function, given, names, output in self.calls:
            values[output] = function(given, *(values[name] if name else None for name in names))
        return tuple(values[name] for name in self.outputs)
