# SPDX-License-Identifier: Apache-2.0
"""A network, each transform of it, and what is saved and loaded answer the same; ONNX Runtime judges."""

import json

import numpy
import onnxruntime
import pytest
from drawn_networks import drawn_network

# A different order of sums in float32; half precision keeps eleven bits, bfloat16 eight.
WITHIN = {"half-precision": 2e-2, "bfloat16": 1e-1}
FLOAT32 = 2e-5
OWN_OPERATORS = {"dsgd", "fuse-activation", "opset"}  # the newest opset, and nodes of d5's own domain, which ONNX Runtime does not have


def distance(a, b):
    return numpy.max(numpy.abs(numpy.float64(a) - numpy.float64(b))) / max(1.0, numpy.max(numpy.abs(b)))


@pytest.mark.parametrize("number", range(2))
def test_transforms(d5, draw, number):
    model = drawn_network(draw, d5.folder / "drawn.onnx")
    x = numpy.random.default_rng(draw.randrange(2**32)).normal(size=(2, 2, 8, 8)).astype("float32")
    numpy.save(d5.folder / "x.npy", x)
    given = ("--input", "x=x.npy")
    judge = onnxruntime.InferenceSession(str(model)).run(None, {"x": x})[0]
    plain = d5.outputs(model, *given)["y"]
    assert distance(plain, judge) < FLOAT32
    d5("net", "save", model, "saved.onnx")
    assert numpy.array_equal(d5.outputs("saved.onnx", *given)["y"], plain)
    d5("net", "save", "saved.onnx", "again.onnx")
    assert (d5.folder / "again.onnx").read_bytes() == (d5.folder / "saved.onnx").read_bytes()
    for row in json.loads(d5("list", "transforms", "--format", "json").stdout):
        name = row["name"]
        within = WITHIN.get(name, FLOAT32)
        changed = d5.outputs(model, *given, "--transform", name)["y"]
        assert distance(changed, judge) < within, name
        if name == "microbatch":  # splits a batch that is known while it runs
            continue
        d5("net", "save", model, "transformed.onnx", "--transform", name)
        assert numpy.array_equal(d5.outputs("transformed.onnx", *given)["y"], changed), name
        if name in OWN_OPERATORS:
            continue
        session = onnxruntime.InferenceSession(str(d5.folder / "transformed.onnx"))
        feed = {i.name: x.astype("float16") if i.type == "tensor(float16)" else x for i in session.get_inputs()}
        assert distance(session.run(None, feed)[0], judge) < within, f"{name}, saved, by ONNX Runtime"
