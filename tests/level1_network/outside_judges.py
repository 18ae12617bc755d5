#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets ONNX Runtime and torch judge a built-in network that `dump_model` wrote.

usage: outside_judges.py DUMP_MODEL MODEL BATCH outputs|gradients [OPTION=VALUE ...]

BATCH is the size of every dimension that the network leaves open. The saved file must pass ONNX's checker. Errors are relative to a tensor's largest magnitude, and torch runs the saved graph in float64, so that
its own rounding does not count.

- Outputs in float32, against ONNX Runtime and torch: 1e-4.
- Gradients in float64, parameter by parameter, against torch: 1e-9, some thousand roundings.
- Gradients in float32, parameter by parameter, against torch: 1e-4. Where a rectifier's input, or two
  candidates of a maximum, lie within rounding of each other, float32 and float64 choose differently, and
  whole gradients differ by that one choice. So torch is given d5's choices, and each choice of its own that
  they overrule must have been within 1e-5 of the other one.

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
FLOAT32_GRADIENT_TOLERANCE = 1e-4
CHOICE_TOLERANCE = 1e-5  # between the two candidates of a choice, over the tensor's largest magnitude


def padding(attributes):
    pads = attributes.get("pads", [0, 0, 0, 0])
    half = len(pads) // 2
    assert pads[:half] == pads[half:], "asymmetric padding is not needed here"
    return pads[:half]


def conv(attributes, x, w, b=None):
    return F.conv2d(x, w, b, attributes["strides"], padding(attributes), groups=attributes["group"])


def window(attributes):
    return {"kernel_size": attributes["kernel_shape"], "stride": attributes["strides"],
            "padding": padding(attributes), "ceil_mode": bool(attributes["ceil_mode"])}


def batch_norm(attributes, x, scale, shift, mean, variance):
    epsilon = attributes.get("epsilon", 1e-5)
    return F.batch_norm(x, mean.detach(), variance.detach(), scale, shift, False, 0.0, epsilon)


def gemm(attributes, a, b, c=0):
    return a @ (b.T if attributes.get("transB") else b) + c


def attention(attributes, q, k, v, mask, past_key, past_value, lengths):
    """Queries are the last of the keys that are filled, text by text."""
    q, k, v = (x.reshape(*x.shape[:2], attributes[heads], -1).transpose(1, 2) for x, heads in
               ((q, "q_num_heads"), (k, "kv_num_heads"), (v, "kv_num_heads")))
    positions = lengths[:, None] - q.shape[2] + torch.arange(q.shape[2])
    visible = torch.arange(k.shape[2]) <= positions[:, None, :, None]
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, enable_gqa=True)
    return y.transpose(1, 2).flatten(2)


def rotary_embedding(attributes, x, cosine, sine, positions):
    pairs = x.reshape(*x.shape[:2], attributes["num_heads"], 2, -1)
    angle = torch.complex(cosine, sine)[positions][:, :, None]
    y = torch.complex(pairs[..., 0, :], pairs[..., 1, :]) * angle
    return torch.cat((y.real, y.imag), -1).flatten(2)


def tensor_scatter(attributes, cache, rows, starts):
    assert attributes["axis"] == 1
    return torch.stack([torch.cat((old[:start], new, old[start + len(new):]))
                        for old, new, start in zip(cache, rows, starts.tolist())])


def lstm(attributes, x, w, r, b):
    """Gates in ONNX's order: input, output, forget, cell."""
    size = attributes["hidden_size"]
    h = c = x.new_zeros(x.shape[1], size)
    states = []
    for step in x:
        gates = step @ w[0].T + h @ r[0].T + b[0, :4 * size] + b[0, 4 * size:]
        i, o, f, g = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        states.append(h)
    return torch.stack(states).unsqueeze(1)


def pad(_, x, pads):
    sides = pads.reshape(2, -1).T.flip(0)  # torch begins with the last dimension
    return F.pad(x, sides.flatten().tolist())


def reshape(_, x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape.tolist())])


def slice_(_, x, *ranges):
    index = [slice(None)] * x.dim()
    for start, end, axis, step in zip(*(values.tolist() for values in ranges)):
        index[axis] = slice(start, end, step)
    return x[tuple(index)]


OPERATORS = {
    "Add": lambda _, a, b: a + b,
    "Attention": attention,
    "AveragePool": lambda attributes, x: F.avg_pool2d(x, **window(attributes)),
    "BatchNormalization": batch_norm,
    "Concat": lambda attributes, *parts: torch.cat(parts, attributes["axis"]),
    "Conv": conv,
    "Dropout": lambda _, x, *rest: x,
    "Flatten": lambda _, x: x.flatten(1),
    "Gather": lambda _, table, rows: table[rows],
    "GatherND": lambda _, x, places: torch.stack([a[i[:, 0]] for a, i in zip(x, places)]),
    "Gemm": gemm,
    "GlobalAveragePool": lambda _, x: x.mean((2, 3), keepdim=True),
    "LSTM": lstm,
    "LayerNormalization": lambda _, x, scale, shift: F.layer_norm(x, x.shape[-1:], scale, shift),
    "MatMul": lambda _, a, b: a @ b,
    "MaxPool": lambda attributes, x: F.max_pool2d(x, **window(attributes)),
    "Mul": lambda _, a, b: a * b,
    "Pad": pad,
    "RMSNormalization": lambda attributes, x, scale:
        F.rms_norm(x, x.shape[-1:], scale, attributes["epsilon"]),
    "Range": lambda _, start, limit, step: torch.arange(start, limit, step),
    "Relu": lambda _, x: x.relu(),
    "Reshape": reshape,
    "RotaryEmbedding": rotary_embedding,
    "Shape": lambda attributes, x: torch.tensor(x.shape[attributes["start"]:]),
    "Sigmoid": lambda _, x: x.sigmoid(),
    "Slice": slice_,
    "Softmax": lambda attributes, x: x.softmax(attributes["axis"]),
    "SoftmaxCrossEntropyLoss": lambda _, x, label: F.cross_entropy(x, label),
    "Squeeze": lambda _, x, axes: x.squeeze(axes.tolist()),
    "TensorScatter": tensor_scatter,
    "Transpose": lambda attributes, x: x.permute(attributes["perm"]),
    "Unsqueeze": lambda _, x, axes: x.unsqueeze(axes.item()),
}


class Choices:
    """Those that d5 made in float32, from the inputs of its rectifiers and maxima."""

    def __init__(self, folder):
        self.folder = folder
        self.overruled = 0
        self.widest_gap = 0.0

    def made_on(self, name):
        return torch.from_numpy(read(self.folder / f"{name}.pb").copy())

    def count(self, mine, theirs, x):
        """`mine` and `theirs`: the values that torch and d5 chose among those of x."""
        gap = (mine - theirs).detach().abs()
        self.overruled += int((gap > 0).sum())
        self.widest_gap = max(self.widest_gap, float(gap.max() / x.detach().abs().max()))

    def relu(self, attributes, name, x):
        y = torch.where(self.made_on(name) > 0, x, 0)
        self.count(x.relu(), y, x)
        return y

    def max_pool(self, attributes, name, x):
        _, index = F.max_pool2d(self.made_on(name), **window(attributes), return_indices=True)
        y = x.flatten(2).gather(2, index.flatten(2)).view(index.shape)
        self.count(F.max_pool2d(x, **window(attributes)), y, x)
        return y


def run_in_torch(model, inputs, choices=None):
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
    chosen = {"Relu": choices.relu, "MaxPool": choices.max_pool} if choices else {}
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        arguments = [tensors[name] if name else None for name in node.input]
        if node.op_type in chosen:
            result = chosen[node.op_type](attributes, node.input[0], *arguments)
        else:
            result = OPERATORS[node.op_type](attributes, *arguments)
        tensors[node.output[0]] = result
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


def judge_gradients(folder, kind, tensors, tolerance, verdict):
    names = sorted(path.stem for path in (folder / kind / "gradient").glob("*.pb"))
    assert names, "there are no gradients"
    for name in names:
        gradient = read(folder / kind / "gradient" / f"{name}.pb")
        verdict.add(f"torch, gradients in {kind}", name,
                    difference(gradient, tensors[name].grad.numpy()), tolerance)
    return len(names)


def judge_all_gradients(folder, model, inputs, tensors, verdict):
    tensors["loss"].backward()
    gradients = judge_gradients(folder, "float64", tensors, GRADIENT_TOLERANCE, verdict)
    choices = Choices(folder / "float32" / "choice")
    tensors = run_in_torch(model, inputs, choices)
    tensors["loss"].backward()
    verdict.add("torch, choices", "the widest overruled one", choices.widest_gap, CHOICE_TOLERANCE)
    judge_gradients(folder, "float32", tensors, FLOAT32_GRADIENT_TOLERANCE, verdict)
    return f"{gradients} gradients ({choices.overruled} choices of torch's overruled)"


def main(dump_model, name, batch, what, *options):
    verdict = Verdict()
    judged = "outputs"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run([dump_model, name, batch, what, folder, *options], check=True)
        onnx.checker.check_model(folder / "model.onnx", full_check=True)
        model = onnx.load(folder / "model.onnx")
        inputs = {path.stem: read(path) for path in folder.glob("*.pb")}
        with torch.set_grad_enabled(what == "gradients"):
            tensors = run_in_torch(model, inputs)
        judge_outputs(folder, inputs, tensors, verdict)
        if what == "gradients":
            judged = judge_all_gradients(folder, model, inputs, tensors, verdict)
    print(" ".join((name, *options)) + f", batch {batch}: {judged}; largest differences:",
          ", ".join(f"{judge} {error:.1e}" for judge, error in verdict.worst.items()))
    print("\n".join(verdict.failures))
    return 1 if verdict.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
