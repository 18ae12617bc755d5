# SPDX-License-Identifier: Apache-2.0
"""A training at one go, cut into drawn pieces and resumed, on one rank and on two: the same weights, losses, doubts."""

import numpy
import onnx
import pytest
from onnx import numpy_helper

EPOCHS = 3
RECIPE = """name: short
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 128, test_samples: 50}
  model: {name: lenet}
mutable:
  sampler: {name: shuffle, batch_size: 32}
  optimizer: {name: RULE, learning_rate: 0.005}
  training: {epochs: 3, seed: 1}
acceptable:
  test_accuracy: {at_least: 0}
"""


def weights_of(file):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(file).graph.initializer}


def learnt(records):
    return {m["metric"]: m["samples"] for m in records if m["quantity"] in ("loss", "accuracy")}


@pytest.mark.parametrize("optimizer", ("momentum", "adam"))
@pytest.mark.parametrize("ranks", (1, 2))
def test_pieces(d5, draw, ranks, optimizer):
    (d5.folder / "short.yaml").write_text(RECIPE.replace("RULE", optimizer))
    words = ["train", "short.yaml", "--threads", 1, "--ranks", ranks]
    some = (0, 1)
    straight = d5.records(*words, "--set", f"training.epochs={EPOCHS}", "--save", "straight.onnx", status=some)
    ends = sorted({EPOCHS, draw.randint(1, EPOCHS - 1)})
    for end in ends:
        cut = words + ["--set", f"training.epochs={end}", "--checkpoint", "ck", "--resume", "--save", "pieces.onnx"]
        resumed = d5.records(*cut, status=some)
    nothing_left = d5.records(*cut, status=some)
    assert learnt(resumed) == learnt(straight)
    assert learnt(nothing_left) == learnt(straight)
    one, other = weights_of(d5.folder / "straight.onnx"), weights_of(d5.folder / "pieces.onnx")
    assert all(numpy.array_equal(one[name], other[name]) for name in one)
    doubted = {m["metric"] for m in resumed if m["status"] == "mistrusted"}
    assert {m["metric"] for m in nothing_left if m["status"] == "mistrusted"} >= doubted
