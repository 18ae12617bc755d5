# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import math
import os
import pathlib

import d5
import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ["D5_SOURCE_DIR"]) / "examples/101_custom_operator/log_cosh.cpp"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def network_of(name):
    """loss = sum(operator(x w)) with w = {1, -2}."""
    domain, op_type = name.rsplit(".", 1)
    network = d5.Network("custom")
    network.add_input("x", "float64", [2])
    network.add_parameter("w", np.array([1.0, -2.0]))
    network.add_node("Mul", ["x", "w"], ["xw"])
    network.add_node(op_type, ["xw"], ["y"], domain=domain)
    network.add_node("ReduceSum", ["y"], ["loss"], keepdims=0)
    network.add_output("loss")
    return network


X = np.array([0.5, 1.5])


def check(name, value, slope, frameworks=("reference",)):
    """In each framework's graph, held against the formulas of the operator and its derivative."""
    (row,) = d5.test_gradient(f"{name} 3x4")
    assert row.status == "passed", row.reason
    xw = X * np.array([1.0, -2.0])
    for framework in frameworks:
        executor = d5.executor(network_of(name), [framework])
        loss = executor.inference_and_backprop({"x": X})["loss"].item()
        assert loss == pytest.approx(value(xw).sum(), rel=1e-12)
        gradient = executor.network.parameters[0].gradient.numpy()
        assert gradient == pytest.approx(slope(xw) * X, rel=1e-12)


def frameworks():
    """The last is torch's own executor, which differentiates by autograd."""
    return ["reference", "torch", "torch:torch"] if d5_has_torch() else ["reference"]


def d5_has_torch():
    try:
        return bool(d5.operators("torch"))
    except (d5.NotFound, d5.Unsupported):
        return False


def silu(x):
    return x / (1 + np.exp(-x))


def silu_slope(x):
    sigmoid = 1 / (1 + np.exp(-x))
    return sigmoid * (1 + x * (1 - sigmoid))


def test_a_class_runs_in_the_graphs_of_every_framework():
    @d5.operator("Fifth", domain="python_test")
    class Fifth(d5.Operator):
        def forward(self, context):
            context.output(0).numpy()[...] = context.input(0).numpy() ** 5

        def backward(self, context):
            slope = 5 * context.input(0).numpy() ** 4
            context.grad_input(0).numpy()[...] = context.grad_output(0).numpy() * slope

    check("python_test.Fifth", lambda x: x**5, lambda x: 5 * x**4, frameworks())


def test_a_class_trains_alike_in_every_framework():
    @d5.operator("Softsign", domain="python_test")
    class Softsign(d5.Operator):
        def forward(self, context):
            x = context.input(0).numpy()
            context.output(0).numpy()[...] = x / (1 + np.abs(x))

        def backward(self, context):
            slope = 1 / (1 + np.abs(context.input(0).numpy())) ** 2
            context.grad_input(0).numpy()[...] = context.grad_output(0).numpy() * slope

    expected = np.array([1.0, -2.0])
    for _ in range(2):  # gradient descent by hand
        expected -= 0.25 * X / (1 + np.abs(X * expected)) ** 2
    for framework in frameworks():
        executor = d5.executor(network_of("python_test.Softsign"), [framework])
        optimizer = d5.optimizer("sgd", executor, learning_rate=0.25)
        for _ in range(2):
            optimizer.step({"x": X})
        weights = executor.network.parameters[0].value.numpy()
        assert weights == pytest.approx(expected, rel=1e-12), framework


def test_a_class_without_backward_is_no_path_for_gradients():
    @d5.operator("Doubled", domain="python_test")
    class Doubled(d5.Operator):
        def forward(self, context):
            context.output(0).numpy()[...] = 2 * context.input(0).numpy()

    for framework in frameworks():
        executor = d5.executor(network_of("python_test.Doubled"), [framework])
        assert executor.inference({"x": X})["loss"].item() == 2 * (0.5 - 3)
        with pytest.raises(d5.Unsupported, match="Doubled"):
            executor.inference_and_backprop({"x": X})


def test_a_source_in_cpp_is_compiled_and_runs_everywhere():
    assert d5.op.compile(SOURCE) == ["example.LogCosh"]
    check("example.LogCosh", lambda x: np.log(np.cosh(x)), np.tanh, frameworks())


def test_text_is_compiled_and_the_next_one_takes_its_place():
    text = SOURCE.read_text().replace('"example"', '"python_text"')
    assert d5.op.compile(text) == ["python_text.LogCosh"]
    halved = text.replace("double scale = 1;", "double scale = 0.5;")
    assert d5.op.compile(halved) == ["python_text.LogCosh"]
    check("python_text.LogCosh", lambda x: np.log(np.cosh(x)) / 2, lambda x: np.tanh(x) / 2)
    with pytest.raises(d5.FormatError, match="error: "):
        d5.op.compile("int x = ;\n")


def test_a_function_of_torch_by_its_name():
    if not d5_has_torch():
        pytest.skip("d5 was built without torch")
    assert d5.op.from_native("aten::silu") == "aten.silu"
    check("aten.silu", silu, silu_slope, frameworks())
    with pytest.raises(d5.NotFound, match="no_such"):
        d5.op.from_native("aten::no_such")


def test_anything_that_torch_can_call():
    torch = pytest.importorskip("torch")
    name = d5.op.from_native(torch.nn.functional.silu, "Silu", domain="python_test")
    assert name == "python_test.Silu"
    check(name, silu, silu_slope, frameworks())

    def both(x, y, alpha=1):
        return x @ y, (alpha * x).sum(dim=0)

    name = d5.op.from_native(both, "Both", domain="python_test")
    rows = d5.test_gradient(f"{name} 3x4 4x2 alpha=3 outputs=2")
    assert [row.status for row in rows] == ["passed", "passed"]
    rows = d5.test_forward(name + " 1x2{1,2} 2x1{3,4} alpha=5 -> 1x1{11} {5,10}", "reference")
    assert [row.status for row in rows] == ["passed", "passed"]
    name = d5.op.from_native(torch.nonzero, "Places", domain="python_test")
    with pytest.raises(d5.Unsupported, match="shapes are not known"):
        d5.executor(network_of(name)).inference({"x": X})
    with pytest.raises(d5.ValueError, match="needs a name"):
        d5.op.from_native(torch.relu)


def test_where_an_output_differs_is_drawn(tmp_path):
    picture = d5.heatmap(d5.absolute_difference(np.array([1, 2, 3], np.float32), np.array([1, 2, 4], np.float32)))
    pixels = picture.numpy()
    assert pixels.dtype == np.uint8 and pixels.shape[2] == 3
    assert pixels[0, 0].tolist() == [0, 0, 0] and pixels[0, 64].sum() > 3 * 128
    (row,) = d5.test_forward("Add {1,2} {1,1} -> {2,4}", "reference", heatmaps=str(tmp_path))
    assert row.status == "failed"
    (file,) = tmp_path.iterdir()
    assert row.artefacts == [str(file)]
    assert file.read_bytes().startswith(b"\x89PNG")
    assert file.name.endswith("-reference-output_0-difference.png")


def test_outputs_and_gradients_are_the_same_bits_in_every_run():
    rows = d5.test_repeatability("Gemm 3x4 4x2", runs=3)
    assert {row.status for row in rows} == {"passed"}
    assert [row.value for row in rows] == [0] * 6


def test_an_operator_is_checked_in_one_call():
    rows = d5.check_operator("Relu 2x3", repeats=2)
    by_test = {row.conditions["test"]: row.status for row in rows}
    assert by_test["forward"] == "skipped" and by_test["gradient"] == "passed"
    (right,) = d5.check_operator("Add {1,2} {3,4} -> {4,6}", gradient=False)
    (wrong,) = d5.check_operator("Add {1,2} {3,4} -> {4,7}", gradient=False)
    assert [right.status, wrong.status] == ["passed", "failed"]
    with pytest.raises(d5.NotFound, match="did you mean Relu"):
        d5.check_operator("Rellu 2x3")


def test_a_source_that_is_not_trusted_is_judged():
    folder = SOURCE.parents[2] / "tests/level0_ops/judge"
    source = folder / "controls/gradient.cpp"
    verdict = d5.judge(source, "MatMul 4x5 5x3", samples=4, gradients=True)
    assert verdict.right and math.isnan(verdict.ratio) and verdict.base == ""
    assert [row.conditions["pass"] for row in verdict.records] == ["forward", "backward"]
    assert {row.conditions["answers"] for row in verdict.records} == {"right"}
    verdict = d5.judge(folder / "cheats/warmup.cpp", ["MatMul 4x5 5x3"], samples=9, seed=1, against=["reference"])
    row = verdict.records[0]
    assert (row.status, row.conditions["fault"]) == ("failed", "output not written")
    assert not verdict.right and math.isnan(verdict.ratio)
    assert verdict.reasons == [f"MatMul 4x5 5x3 forward: {row.reason}"]


def test_a_verdict_has_the_ratio_to_the_first_framework():
    folder = SOURCE.parents[2] / "tests/level0_ops/judge"
    text = (folder / "controls/plain.cpp").read_text().replace('"../matmul.hpp"', f'"{folder / "matmul.hpp"}"')
    verdict = d5.judge(text, "MatMul 30x{n} {n}x30 for n=31,32", samples=12, against=["reference"])
    assert verdict.right and verdict.base == "reference"
    low, high = verdict.interval
    assert 0 <= low <= verdict.ratio <= high  # beside other work the lower end may be 0
    ratios = [row.samples for row in verdict.records if row.metric == "time_ratio"]
    assert verdict.ratio == pytest.approx(np.median(np.sqrt(np.prod(ratios, axis=0))))
    board = d5.judge_board(verdict.records)
    assert f"{verdict.ratio:.3f}*" in str(board) and "2 of 2" in str(board)


def test_judgements_at_once_give_the_verdicts_that_they_give_alone():
    folder = SOURCE.parents[2] / "tests/level0_ops/judge"
    names = ["controls/plain", "cheats/warmup", "controls/other_order", "cheats/half_precision"]
    before = d5.threads()
    d5.set_threads(1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda name: d5.judge(folder / f"{name}.cpp", "MatMul 6x17 17x9", samples=9), names))
    d5.set_threads(before)
    assert [verdict.right for verdict in verdicts] == [True, False, True, False]


def test_the_reference_is_checked_where_no_framework_is_named():
    (row,) = d5.test_forward("Relu 3")
    assert row.framework == "reference" and row.status == "passed"


def test_an_operator_without_forward_is_refused():
    class Lacking(d5.Operator):
        def infer(self, context):
            return [(context.dtype(0), context.shape(0))]

    with pytest.raises(d5.TypeError, match=r"^d5.operator: Lacking: class Lacking lacks forward\(self, context\)"):
        d5.operator("Lacking", domain="tests")(Lacking)


def test_an_operator_that_binds_its_output_to_a_new_array_is_refused():
    """`y = 2 * x` changes nothing of d5's; a result that only looks unwritten is one."""

    @d5.operator("Rebound", domain="python_test")
    class Rebound(d5.Operator):
        def forward(self, context):
            y = context.output(0).numpy()
            y = 2 * context.input(0).numpy()

    executor = d5.executor(network_of("python_test.Rebound"))
    with pytest.raises(d5.TypeError, match=r"Rebound.forward\(\) wrote nothing to output 0; it writes in place: context"):
        executor.inference({"x": X})

    @d5.operator("Marked", domain="python_test")
    class Marked(d5.Operator):
        def infer(self, context):
            return [("uint8", [4])]

        def forward(self, context):
            context.output(0).numpy()[...] = 0xA5

    network = d5.Network("marked")
    network.add_input("x", "float32", [1])
    network.add_node("Marked", ["x"], ["y"], domain="python_test")
    network.add_output("y")
    assert d5.executor(network).inference({"x": np.ones(1, np.float32)})["y"].numpy().tolist() == [0xA5] * 4
