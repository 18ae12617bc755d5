#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets ONNX Runtime and torch judge a built-in network that `dump_model` wrote.

usage: outside_judges.py DUMP_MODEL MODEL BATCH

Errors are relative to a tensor's largest magnitude, and torch runs the saved graph in float64, so that
its own rounding does not count.

- Outputs in float32, against ONNX Runtime and torch: 1e-4.
- Gradients in float64, parameter by parameter, against torch: 1e-9, some thousand roundings.
- All gradients in float32 as one vector, against torch: 1e-2 by the Euclidean norm. Parameter by parameter
  they mostly agree to 1e-6, but where a rectifier's input, or two candidates of a maximum, lie within rounding
  of each other, float32 and float64 choose differently, and whole gradients differ by that one choice.

Exit status 4: a judge is not installed.
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import onnxruntime
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

F = torch.nn.functional
OUTPUT_TOLERANCE = 1e-4
GRADIENT_TOLERANCE = 1e-9
WHOLE_GRADIENT_TOLERANCE = 1e-2


def padding(attributes):
    pads = attributes.get("pads", [0, 0, 0, 0])
    half = len(pads) // 2
    assert pads[:half] == pads[half:], "asymmetric padding is not needed here"
    return pads[:half]


def conv(attributes, x, w, b=None):
    return F.conv2d(x, w, b, attributes["strides"], padding(attributes))


def max_pool(attributes, x):
    return F.max_pool2d(x, attributes["kernel_shape"], attributes["strides"], padding(attributes))


def batch_norm(attributes, x, scale, shift, mean, variance):
    epsilon = attributes.get("epsilon", 1e-5)
    return F.batch_norm(x, mean.detach(), variance.detach(), scale, shift, False, 0.0, epsilon)


def gemm(attributes, a, b, c):
    return a @ (b.T if attributes.get("transB") else b) + c


OPERATORS = {
    "Add": lambda _, a, b: a + b,
    "BatchNormalization": batch_norm,
    "Conv": conv,
    "Dropout": lambda _, x, *rest: x,
    "Flatten": lambda _, x: x.flatten(1),
    "Gemm": gemm,
    "GlobalAveragePool": lambda _, x: x.mean((2, 3), keepdim=True),
    "MaxPool": max_pool,
    "Relu": lambda _, x: x.relu(),
    "SoftmaxCrossEntropyLoss": lambda _, x, label: F.cross_entropy(x, label),
}


def run_in_torch(model, inputs):
    """All tensors of the graph by name; those that are initializers have gradients."""
    tensors = {}
    for initializer in model.graph.initializer:
        value = torch.from_numpy(onnx.numpy_helper.to_array(initializer).copy())
        if value.is_floating_point():
            value = value.double().requires_grad_()
        tensors[initializer.name] = value
    for name, array in inputs.items():
        value = torch.from_numpy(array.copy())
        tensors[name] = value.double() if value.is_floating_point() else value
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        arguments = [tensors[name] if name else None for name in node.input]
        tensors[node.output[0]] = OPERATORS[node.op_type](attributes, *arguments)
    tensors["loss"].backward()
    return tensors


def read(path):
    return onnx.numpy_helper.to_array(onnx.load_tensor(path))


def difference(got, expected):
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    largest = numpy.abs(expected).max()
    return float(numpy.abs(got - expected).max() / max(largest, 1e-30))


class Verdict:
    def __init__(self):
        self.worst = {}
        self.failures = []

    def add(self, judge, what, error, tolerance):
        self.worst[judge] = max(self.worst.get(judge, 0.0), error)
        if not error <= tolerance:
            self.failures.append(f"{judge}: {what} differs by {error:.2e}, allowed is {tolerance}")


def judge_outputs(folder, inputs, tensors, verdict):
    outputs = {key: read(folder / "float32" / f"{key}.pb") for key in ("logits", "loss")}
    session = onnxruntime.InferenceSession(
        folder / "model.onnx", providers=["CPUExecutionProvider"])
    for key, value in zip(outputs, session.run(list(outputs), inputs)):
        verdict.add("ONNX Runtime", key, difference(outputs[key], value), OUTPUT_TOLERANCE)
    for key, value in outputs.items():
        expected = tensors[key].detach().numpy()
        verdict.add("torch", key, difference(value, expected), OUTPUT_TOLERANCE)


def judge_gradients(folder, tensors, verdict):
    names = sorted(path.stem for path in (folder / "float64" / "gradient").glob("*.pb"))
    assert names, "there are no gradients"
    squared_error = squared_norm = 0.0
    for name in names:
        expected = tensors[name].grad.numpy()
        wide = read(folder / "float64" / "gradient" / f"{name}.pb")
        verdict.add("torch, gradients", name, difference(wide, expected), GRADIENT_TOLERANCE)
        narrow = read(folder / "float32" / "gradient" / f"{name}.pb")
        squared_error += float(((narrow - expected) ** 2).sum())
        squared_norm += float((expected**2).sum())
    whole = (squared_error / squared_norm) ** 0.5
    verdict.add("torch, whole gradient in float32", "it", whole, WHOLE_GRADIENT_TOLERANCE)
    return len(names)


def main(dump_model, name, batch):
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run([dump_model, name, batch, folder], check=True)
        model = onnx.load(folder / "model.onnx")
        onnx.checker.check_model(model, full_check=True)
        inputs = {key: read(folder / f"{key}.pb") for key in ("image", "label")}
        tensors = run_in_torch(model, inputs)
        judge_outputs(folder, inputs, tensors, verdict)
        gradients = judge_gradients(folder, tensors, verdict)
    print(f"{name}, batch {batch}: {gradients} gradients; largest differences:",
          ", ".join(f"{judge} {error:.1e}" for judge, error in verdict.worst.items()))
    print("\n".join(verdict.failures))
    return 1 if verdict.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
