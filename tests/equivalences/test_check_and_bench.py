# SPDX-License-Identifier: Apache-2.0
"""`check` and the judge of `bench` say the same of the same answers: right, wrong by a planted error, or not compared."""

import pathlib

import numpy
import onnx
import pytest
from drawn_networks import drawn_network
from onnx import helper, numpy_helper

LOAD = ("--load", pathlib.Path(__file__).with_name("planted_framework.py"))
QUICK = ("--samples", 6, "--metrics", "time")
SOME = (0, 1)
# What `bench` calls the answers that `check` gave this status.
WORDS = {"passed": "right", "failed": "wrong", "mistrusted": "not compared"}
FRAMEWORKS = ("onnxruntime", "onnxruntime:session", "torch", "openvino:compiled", "planted+reference")


def saved(folder, *nodes, **constants):
    """A file of nodes x {N, 4} -> y, with a Relu in front."""
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"]), *(helper.make_node(op, inputs, outputs) for op, inputs, outputs in nodes)],
        "few",
        [helper.make_tensor_value_info("x", kind, ["N", 4])],
        [helper.make_tensor_value_info("y", kind, ["N", None])],
        [numpy_helper.from_array(numpy.float32(value), name) for name, value in constants.items()],
    )
    path = folder / "few.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def nan(folder):
    """0 / 0 everywhere."""
    return saved(folder, ("Sub", ["r", "r"], ["zero"]), ("Div", ["zero", "zero"], ["y"]))


def constant(folder):
    """What no input moves."""
    return saved(folder, ("Mul", ["r", "none"], ["zero"]), ("Add", ["zero", "three"], ["y"]), none=0, three=[[3, 1, 4, 1]])


def plain(folder):
    return saved(folder, ("MatMul", ["r", "w"], ["y"]), w=numpy.arange(8).reshape(4, 2) / 8 + 0.25)


def verdicts(d5, checked, timed, framework, **environment):
    how = ("--framework", framework, *LOAD)
    check = d5.records(*checked, *how, status=SOME, **environment)
    bench = d5.records(*timed, *how, *QUICK, status=SOME, **environment)
    said = {WORDS.get(m["status"], m["status"]) for m in check}
    # `op bench` has a record of the error as well, which is no time's.
    judged = {m["conditions"].get("finding", {}).get("answers") or WORDS.get(m["status"], m["status"]) for m in bench}
    return said, judged


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("network", (plain, nan, constant))
def test_networks(d5, network, framework):
    model = network(d5.folder)
    said, judged = verdicts(d5, ("net", "check", model, "--batch", 2), ("net", "bench", model, "--batch", 2), framework)
    assert said == judged == ({"right"} if network is plain else {"not compared"})


def test_drawn_networks(d5, draw):
    model = drawn_network(draw, d5.folder / "drawn.onnx")
    for framework in FRAMEWORKS[:-1]:
        said, judged = verdicts(d5, ("net", "check", model), ("net", "bench", model), framework)
        assert said == judged == {"right"}, framework


@pytest.mark.parametrize("error,word", (("0", "right"), ("1e-9", "right"), ("0.5", "wrong"), ("nan", "wrong")))
def test_planted_errors(d5, error, word):
    model = plain(d5.folder)
    ways = {
        "network": (("net", "check", model), ("net", "bench", model), "planted+reference"),
        "operator": (("op", "check", "Relu 3x4", "--no-gradient"), ("op", "bench", "Relu 3x4", "--pass", "forward"), "planted"),
    }
    for way, (checked, timed, framework) in ways.items():
        said, judged = verdicts(d5, checked, timed, framework, PLANTED=error)
        assert said == judged == {word}, way
