# SPDX-License-Identifier: Apache-2.0
"""A network node by node in a framework's kernels and whole in each of its executors; ONNX Runtime's own module judges."""

import d5 as module
import numpy
import onnxruntime
import pytest
from drawn_networks import drawn_network

WITHIN = 2e-5  # another order of sums in float32


@pytest.mark.parametrize("number", range(2))
def test_answers(d5, draw, number):
    model = drawn_network(draw, d5.folder / "drawn.onnx")
    x = numpy.random.default_rng(draw.randrange(2**32)).normal(size=(3, 2, 8, 8)).astype("float32")
    judge = onnxruntime.InferenceSession(str(model)).run(None, {"x": x})[0]
    ran = []
    for word in module.executor_words(["all"]):
        way = word if ":" in word else f"{word}+reference"  # a node that it lacks runs in the reference
        answer = module.run_network(model, {"x": x}, framework=way)["y"]
        difference = numpy.abs(numpy.float64(answer) - judge).max() / max(1.0, numpy.abs(judge).max())
        assert difference < WITHIN, way
        ran.append(way)
    assert "onnxruntime:session" in ran or "onnxruntime" not in module.framework_words(["all"])
