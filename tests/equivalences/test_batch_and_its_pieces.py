# SPDX-License-Identifier: Apache-2.0
"""A batch, its pieces, its ranks and its micro-batches train alike, also where classes have weights and samples
are ignored; a test run has one loss, whatever its batches. NumPy on the whole batch judges."""

import numpy
import onnx
import pytest
from onnx import helper, numpy_helper

SAMPLES, TEST, FEATURES, CLASSES, BATCH, RATE, IGNORED = 36, 22, 5, 3, 12, 0.3, -100

RECIPE = """name: softmax
fixed:
  dataset: {name: container, train: train.npz, test: test.npz}
  model: {file: softmax.onnx, loss: loss, logits: logits}
mutable:
  sampler: {name: ordered, batch_size: 12, tail: keep}
  optimizer: {name: sgd, learning_rate: 0.3PIECES}
  training: {epochs: 2, seed: 1}
"""

# Pieces of a batch, and options of the command.
WAYS = {
    "whole": (1, ()),
    "2 pieces": (2, ()),
    "5 pieces": (5, ()),
    "tested by 1": (1, ("--set", "training.test_batch_size=1")),
    "tested by 7": (1, ("--set", "training.test_batch_size=7")),
    "2 ranks": (1, ("--ranks", 2)),
    "3 ranks, centralized": (1, ("--ranks", 3, "--distributed", "consistent_centralized")),
    "2 ranks, sharded": (1, ("--ranks", 2, "--distributed", "consistent_decentralized:exchange=sharded")),
    "2 ranks, 2 pieces": (2, ("--ranks", 2)),
    "2 stages": (1, ("--ranks", 2, "--distributed", "pipeline")),
}


def drawn_task(folder, draw):
    """Data files and a network with a weighed loss; the arrays it began with."""
    numbers = numpy.random.default_rng(draw.randrange(2**32))
    arrays = {}
    for part, count in (("train", SAMPLES), ("test", TEST)):
        x = numbers.normal(size=(count, FEATURES)).astype("float32")
        label = numbers.integers(CLASSES, size=count)
        label[numbers.permutation(count)[: count // 3]] = IGNORED
        numpy.savez(folder / f"{part}.npz", x=x, label=label)
        arrays[part] = (x.astype("float64"), label)
    values = {
        "w": numbers.normal(size=(FEATURES, CLASSES)).astype("float32"),
        "b": numbers.normal(size=CLASSES).astype("float32"),
        "v": numbers.normal(size=(CLASSES, CLASSES)).astype("float32"),
        "weights": numpy.float32(draw.sample((0.2, 1.0, 3.5), CLASSES)),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "v"], ["logits"]),
        helper.make_node("SoftmaxCrossEntropyLoss", ["logits", "label", "weights"], ["loss"], ignore_index=IGNORED),
    ]
    kind = onnx.TensorProto
    graph = helper.make_graph(
        nodes,
        "softmax",
        [helper.make_tensor_value_info("x", kind.FLOAT, ["N", FEATURES]), helper.make_tensor_value_info("label", kind.INT64, ["N"])],
        [helper.make_tensor_value_info("logits", kind.FLOAT, ["N", CLASSES]), helper.make_tensor_value_info("loss", kind.FLOAT, [])],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "softmax.onnx")
    return arrays, values


def forward(values, x, label):
    """Loss, its gradient by the logits, and the number of targets that count and are right."""
    hidden = x @ values["w"] + values["b"]
    logits = hidden @ values["v"]
    log = logits - logits.max(1, keepdims=True)
    log -= numpy.log(numpy.exp(log).sum(1, keepdims=True))
    counts = label != IGNORED
    rows, classes = numpy.nonzero(counts)[0], label[counts]
    share = values["weights"][classes] / values["weights"][classes].sum()
    gradient = numpy.zeros_like(logits)
    gradient[rows] = numpy.exp(log[rows]) * share[:, None]
    gradient[rows, classes] -= share
    return -(share * log[rows, classes]).sum(), gradient, hidden, (logits.argmax(1)[counts] == classes).mean()


def judged(arrays, start):
    """The weights and test losses of whole batches in float64."""
    values = {name: value.astype("float64") for name, value in start.items()}
    x, label = arrays["train"]
    losses = []
    for _ in range(2):
        for first in range(0, SAMPLES, BATCH):
            some = slice(first, first + BATCH)
            _, by_logits, hidden, _ = forward(values, x[some], label[some])
            by_hidden = by_logits @ values["v"].T
            steps = {"w": x[some].T @ by_hidden, "b": by_hidden.sum(0), "v": hidden.T @ by_logits}
            for name, step in steps.items():
                values[name] = values[name] - RATE * step
        loss, _, _, accuracy = forward(values, *arrays["test"])
        losses.append((loss, accuracy))
    return values, losses


def test_ways(d5, draw):
    arrays, start = drawn_task(d5.folder, draw)
    values, losses = judged(arrays, start)
    for way, (pieces, options) in WAYS.items():
        modifiers = f", modifiers: [{{name: accumulate, pieces: {pieces}}}]" if pieces > 1 else ""
        (d5.folder / "softmax.yaml").write_text(RECIPE.replace("PIECES", modifiers))
        records = d5.records("train", "softmax.yaml", "--threads", 1, "--metrics", "test_loss", "--save", "trained.onnx", *options)
        trained = {t.name: numpy_helper.to_array(t) for t in onnx.load(d5.folder / "trained.onnx").graph.initializer}
        for name in ("w", "b", "v"):
            assert trained[name] == pytest.approx(values[name], abs=2e-6), f"{way}: {name}"
        found = {m["metric"]: m["samples"] for m in records if m["conditions"]["identity"].get("rank", 0) == 0}
        assert found["test_loss"][-2:] == pytest.approx([loss for loss, _ in losses], abs=2e-6), way
        assert found["test_accuracy"][-2:] == pytest.approx([accuracy for _, accuracy in losses], abs=1e-9), way
