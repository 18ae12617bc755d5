#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets ONNX Runtime and torch judge a built-in network that `dump_model` wrote.

usage: outside_judges.py DUMP_MODEL MODEL BATCH

Outputs must agree with ONNX Runtime's and with torch's to 1e-4, gradients with torch's to 1e-4, both
relative to the tensor's largest magnitude: float32 sums of some thousand terms in another order differ
by some 1e-6 of that, while single elements near zero may differ wholly. torch runs the saved graph in
float64, so that the judge's own rounding does not count. Exit status 4: a judge is not installed.
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
TOLERANCE = 1e-4


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


def main(dump_model, name, batch):
    worst = {}
    failures = []

    def judge(judge_name, what, got, expected):
        error = difference(got, expected)
        worst[judge_name] = max(worst.get(judge_name, 0.0), error)
        if not error <= TOLERANCE:
            failures.append(f"{judge_name}: {what} differs by {error:.2e}")

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run([dump_model, name, batch, folder], check=True)
        model = onnx.load(folder / "model.onnx")
        onnx.checker.check_model(model, full_check=True)
        inputs = {key: read(folder / f"{key}.pb") for key in ("image", "label")}
        outputs = {key: read(folder / f"{key}.pb") for key in ("logits", "loss")}

        session = onnxruntime.InferenceSession(
            folder / "model.onnx", providers=["CPUExecutionProvider"])
        for key, value in zip(outputs, session.run(list(outputs), inputs)):
            judge("ONNX Runtime", key, outputs[key], value)

        tensors = run_in_torch(model, inputs)
        for key, value in outputs.items():
            judge("torch", key, value, tensors[key].detach().numpy())
        gradients = sorted((folder / "gradient").glob("*.pb"))
        assert gradients, "there are no gradients"
        for path in gradients:
            expected = tensors[path.stem].grad.numpy()
            judge("torch, gradients", path.stem, read(path), expected)

    print(f"{name}, batch {batch}: {len(gradients)} gradients; largest differences:",
          ", ".join(f"{key} {value:.1e}" for key, value in worst.items()))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
