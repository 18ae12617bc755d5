# SPDX-License-Identifier: Apache-2.0
"""Frameworks written in Python, beside others and within networks."""

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import d5
import numpy as np
import pytest
from small_frameworks import ONE, X, framework_of, perceptron, relu_of


def test_a_framework_in_python_is_one_like_any_other():
    assert "numpy" in d5.frameworks()
    assert d5.operators("numpy") == ["Add", "MatMul", "NonZero", "Relu"]
    for case in ("Relu 3x4", "MatMul 3x4 4x5", "Add 3x4 4", "Add 3x1 2x3x4"):
        rows = d5.test_forward(case, "numpy") + d5.test_gradient(case, "numpy")
        assert {row.status for row in rows} == {"passed"}, rows
    rows = d5.bench("Relu 3x4", frameworks=["numpy"], passes="forward", samples=5)
    assert {row.framework for row in rows} == {"numpy"}


def test_a_mix_runs_each_node_where_it_can():
    executor = d5.executor(perceptron(), ["numpy", "reference"])
    ran = []

    class Look(d5.Event):
        def before_node(self, step):
            ran.append((step.node.op_type, step.direction, step.framework))

    executor.add_event(Look())
    loss = executor.inference_and_backprop({"x": X})["loss"].item()
    w, b = (p.value.numpy() for p in executor.network.parameters)
    w, b = (w, b) if w.ndim == 2 else (b, w)
    y = np.maximum(X @ w + b, 0)
    assert loss == pytest.approx(y.sum(), rel=1e-5)
    gradients = {p.name: p.gradient.numpy() for p in executor.network.parameters}
    np.testing.assert_allclose(gradients["w"], X.T @ (y > 0), rtol=1e-5)
    np.testing.assert_allclose(gradients["b"], (y > 0).sum(0), rtol=1e-5)
    assert ("Relu", "forward", "numpy") in ran and ("MatMul", "backward", "numpy") in ran
    assert ("ReduceSum", "forward", "reference") in ran


def test_a_shape_that_only_running_tells_is_the_result_s():
    network = d5.Network("nonzero")
    network.add_input("x", "float32", [4])
    network.add_node("NonZero", ["x"], ["y"])
    network.add_output("y")
    executor = d5.executor(network, ["numpy"])
    for x in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 2, 3, 4]):
        y = executor.inference({"x": np.array(x, np.float32)})["y"].numpy()
        np.testing.assert_array_equal(y, np.array(np.nonzero(np.array(x))))


def test_threads_run_one_framework_at_once():
    meet = threading.Barrier(4, timeout=60)

    def relu(inputs):
        meet.wait()  # passes only where all four are within their kernels
        return np.maximum(inputs[0], 0)

    name = framework_of(Relu=relu)

    def run(i):
        return relu_of(name).inference({"x": np.array([-i, i], np.float32)})["y"].numpy().tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [[0, i] for i in range(4)]


def test_results_of_other_libraries_are_taken():
    torch = pytest.importorskip("torch")
    name = framework_of(Relu=lambda inputs: torch.relu(torch.from_dlpack(inputs[0])))
    assert relu_of(name).inference(ONE)["y"].numpy().tolist() == [0, 2]
    strided = framework_of(Relu=lambda inputs: np.repeat(np.maximum(inputs[0], 0), 2)[::2])
    assert relu_of(strided).inference(ONE)["y"].numpy().tolist() == [0, 2]
    same = framework_of(Relu=lambda inputs: inputs[0])
    assert relu_of(same).inference(ONE)["y"].numpy().tolist() == [-1, 2]


def test_a_plan_may_be_kept():
    class Kept(d5.Kernel):
        def __init__(self, plan):
            self.plan = plan

        def forward(self, inputs):
            assert self.plan.node.op_type == "Relu" and self.plan.shape(0) == (2,)
            assert self.plan.output_dtype(0) == "float32" and self.plan.mode == "inference"
            assert self.plan.constant(0) is None and not self.plan.wants_backward
            with pytest.raises(d5.ShapeError, match="input 1 is left out"):
                self.plan.shape(1)
            return np.maximum(inputs[0], 0)

    assert relu_of(framework_of(Relu=Kept)).inference(ONE)["y"].numpy().tolist() == [0, 2]


def test_added_again_its_kernels_replace_the_former_ones():
    def numbered(number, ops=("Relu",), version="1"):
        def plan(plan):
            return kernel

        kernel = type("K", (d5.Kernel,), {"forward": lambda self, inputs: np.full(2, number, "f4")})()
        parts = {"name": "again", "version": version, "kernels": {op: plan for op in ops}}
        again = type("Again", (d5.Framework,), parts)
        d5.register(again)
        return weakref.ref(kernel)

    first = numbered(1)
    former = relu_of("again")
    assert former.inference(ONE)["y"].numpy().tolist() == [1, 1]
    numbered(2)
    assert relu_of("again").inference(ONE)["y"].numpy().tolist() == [2, 2]
    assert former.inference(ONE)["y"].numpy().tolist() == [1, 1]
    del former
    gc.collect()
    assert first() is None
    numbered(3, ["Abs"])
    with pytest.raises(d5.Unsupported, match="again does not support operator Relu"):
        relu_of("again").inference(ONE)
    with pytest.raises(d5.ValueError, match="as version 1, this is 2"):
        numbered(4, version="2")


FILE = """
    import d5
    import numpy as np
    import words_beside

    class Relu(d5.Kernel):
        def __init__(self, plan):
            pass

        def forward(self, inputs):
            return np.maximum(inputs[0], 0)

    @d5.register
    class Filed(d5.Framework):
        name = words_beside.NAME
        version = "1"
        kernels = {"Relu": Relu}
"""


def test_a_file_is_loaded_and_runs_in_a_process_of_its_own(tmp_path):
    file = tmp_path / "filed_framework.py"
    file.write_text(textwrap.dedent(FILE))
    (tmp_path / "words_beside.py").write_text("NAME = 'filed'\n")
    assert d5.op.load(file) == "module filed_framework"
    (row,) = d5.test_forward("Relu 3", "filed", isolate=60)
    assert row.status == "passed", row.reason
    with pytest.raises(d5.Unsupported, match="'small0' cannot run in a process of its own"):
        framework_of(Relu=lambda inputs: inputs[0])
        d5.test_forward("Relu 3", "small0", isolate=60)
    with pytest.raises(d5.IoError, match="nowhere.py"):
        d5.op.load(tmp_path / "nowhere.py")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(d5.IoError, match="folder.py' is no Python file"):
        d5.op.load(tmp_path / "folder.py")
    broken = tmp_path / "broken_framework.py"
    broken.write_text("import nothing_of_this_name")
    with pytest.raises(d5.Error, match="ModuleNotFoundError"):
        d5.op.load(broken)


def test_the_interpreter_ends_while_kernels_are_there():
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import small_frameworks
        executor = small_frameworks.relu_of("numpy")
        executor.inference(small_frameworks.ONE)
        print("end")
    """
    folder = str(__import__("pathlib").Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), folder], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_a_kernel_without_state_needs_no_init():
    class Negated(d5.Kernel):
        def forward(self, inputs):
            return -inputs[0].numpy()

    @d5.register
    class Stateless(d5.Framework):
        name, version = "tests-stateless", "1"
        kernels = {"Neg": Negated}

    rows = d5.test_forward("Neg 4", framework=["tests-stateless"])
    assert {row.status for row in rows} == {"passed"}
