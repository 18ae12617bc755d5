# SPDX-License-Identifier: Apache-2.0
"""The program and the Python module: the same answers to the bit, the same records but for what a clock decides."""

import json

import d5 as module
import numpy
import onnx
import pytest
from conftest import SOURCE
from drawn_networks import drawn_network
from onnx import numpy_helper
from test_run_and_its_command import key_of

SOME = (0, 1)
PRODUCT = str(SOURCE / "tests/level0_ops/judge/controls/gradient.cpp")
CALLS = {
    "op judge": (
        ("op", "judge", PRODUCT, "--for", "MatMul 4x5 5x3", "--samples", 6, "--seed", 4),
        lambda: module.judge(PRODUCT, "MatMul 4x5 5x3", samples=6, seed=4).records,
    ),
    "op check": (
        ("op", "check", "Conv 1x2x5x5 3x2x3x3 pads=1x1x1x1", "--seed", 4),
        lambda: module.check_operator("Conv 1x2x5x5 3x2x3x3 pads=1x1x1x1", seed=4),
    ),
    "op bench": (
        ("op", "bench", "Gemm 3x4 4x5", "--pass", "forward", "--samples", 6),
        lambda: module.bench("Gemm 3x4 4x5", passes="forward", samples=6),
    ),
    "net check": (
        ("net", "check", "lenet", "--batch", 2, "--seed", 3),
        lambda: module.check_network("lenet", batch=2, seed=3),
    ),
    "net bench": (
        ("net", "bench", "mlp", "--batch", 2, "--samples", 6),
        lambda: module.bench_network("mlp", batch=2, samples=6),
    ),
}


def named(record):
    """Its key; the program pins its threads, and the module leaves those of a person's process where they are."""
    return key_of(record, but=("pinning",))


def exact(records):
    """What no clock decides of each record."""
    return {
        (m["subject"], m["metric"], m["framework"]): m["samples"]
        for m in records
        if m["quantity"] not in ("time", "ratio", "rate") and m["unit"] not in ("s", "1/s", "%")
    }


@pytest.mark.parametrize("name", CALLS)
def test_records(d5, name):
    words, call = CALLS[name]
    program = d5.records(*words, status=SOME)
    module.write_results(call(), d5.folder / "python.json")
    python = json.loads((d5.folder / "python.json").read_text())["measurements"]
    assert {named(m) for m in program} == {named(m) for m in python}
    assert exact(program) == exact(python)


@pytest.mark.parametrize("framework", ("reference", "onnxruntime", "onnxruntime:session", "openvino:compiled", "torch"))
def test_answers(d5, draw, framework):
    if framework.partition(":")[0] not in module.frameworks():
        pytest.skip(f"{framework} is not in this build")
    model = drawn_network(draw, d5.folder / "drawn.onnx")
    x = numpy.random.default_rng(draw.randrange(2**32)).normal(size=(2, 2, 8, 8)).astype("float32")
    numpy.save(d5.folder / "x.npy", x)
    program = d5.outputs(model, "--input", "x=x.npy", "--framework", framework)
    python = module.run_network(model, {"x": x}, framework=framework)
    assert set(program) == set(python)
    for name, value in program.items():
        assert numpy.array_equal(value, python[name]), name


def test_training(d5):
    words = ("--set", "training.epochs=1", "--set", "training.most_batches=5")
    program = d5.records("train", "mnist-lenet-quick", *words, "--threads", 1, "--save", "program.onnx", status=SOME)
    module.set_threads(1)
    records, met = module.train("mnist-lenet-quick", set=words[1::2], save=d5.folder / "python.onnx")
    assert not met
    learnt = {m["metric"]: m["samples"] for m in program if m["quantity"] in ("loss", "accuracy")}
    assert learnt
    python = {m.metric: list(m.samples) for m in records if m.metric in learnt}
    assert python == learnt
    one, other = (
        {t.name: numpy_helper.to_array(t) for t in onnx.load(d5.folder / name).graph.initializer}
        for name in ("program.onnx", "python.onnx")
    )
    assert one.keys() == other.keys()
    assert all(numpy.array_equal(one[name], other[name]) for name in one)
