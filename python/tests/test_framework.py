# SPDX-License-Identifier: Apache-2.0
"""Frameworks written in Python: a small one in NumPy, and ones that do wrong."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import d5
import numpy as np
import pytest


class Relu(d5.Kernel):
    backward_reads_outputs = False

    def __init__(self, plan):
        if not plan.dtype(0).startswith("float"):
            raise d5.Unsupported(f"element type {plan.dtype(0)}")

    def forward(self, inputs):
        return np.maximum(inputs[0], 0)

    def backward(self, inputs, outputs, output_gradients):
        return output_gradients[0].numpy() * (inputs[0].numpy() > 0)


class MatMul(d5.Kernel):
    def __init__(self, plan):
        if len(plan.shape(0)) != 2 or len(plan.shape(1)) != 2:
            raise d5.Unsupported("anything but matrices")

    def forward(self, inputs):
        a, b = (x.numpy() for x in inputs)
        return a @ b

    def backward(self, inputs, outputs, output_gradients):
        (a, b), dy = (x.numpy() for x in inputs), output_gradients[0].numpy()
        return dy @ b.T, a.T @ dy


class Add(d5.Kernel):
    def __init__(self, plan):
        self.shapes = [plan.shape(i) for i in range(2)]

    def forward(self, inputs):
        return inputs[0].numpy() + inputs[1].numpy()

    def backward(self, inputs, outputs, output_gradients):
        dy = output_gradients[0].numpy()
        return [self.summed(dy, shape) for shape in self.shapes]

    @staticmethod
    def summed(dy, shape):
        dy = dy.sum(tuple(range(dy.ndim - len(shape))))
        return dy.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True).reshape(shape)


class NonZero(d5.Kernel):
    def __init__(self, plan):
        assert plan.output_shape(0) is None

    def forward(self, inputs):
        return np.array(np.nonzero(inputs[0].numpy()), dtype=np.int64)


def whole(plan):
    """A network of these functions in one call."""
    functions = {"Relu": lambda x: np.maximum(x, 0), "MatMul": np.matmul, "Add": np.add, "Reshape": np.reshape}
    if plan.loss:
        raise d5.Unsupported("NumPy has no gradients")
    lacking = {node.node.op_type for node in plan.nodes} - {*functions}
    if lacking:
        raise d5.Unsupported(f"no {sorted(lacking)}")

    def run(inputs):
        values = {**plan.constants, **dict(zip(plan.input_names, inputs))}
        values = {name: value.numpy() for name, value in values.items()}
        for node in (planned.node for planned in plan.nodes):
            values[node.outputs[0]] = functions[node.op_type](*(values[name] for name in node.inputs))
        return tuple(values[name] for name in plan.output_names)

    return run


class NumPy(d5.Framework):
    name = "numpy"
    version = np.__version__
    kernels = {"Relu": Relu, "MatMul": MatMul, "Add": Add, "NonZero": NonZero}
    executors = {"whole": whole}


d5.add_framework(NumPy())

NAMES = itertools.count()


def framework_of(**kernels):
    """The name of a framework with these kernels; a function is one's forward, and no more."""

    def plan_of(function):
        kernel = type("Anonymous", (d5.Kernel,), {"forward": lambda self, inputs: function(inputs)})
        return lambda plan: kernel()

    class Small(d5.Framework):
        name = f"small{next(NAMES)}"
        version = "1"

    Small.kernels = {
        op: kernel if isinstance(kernel, type) else plan_of(kernel) for op, kernel in kernels.items()
    }
    d5.add_framework(Small())
    return Small.name


def perceptron():
    random = np.random.default_rng(3)
    network = d5.Network("perceptron")
    network.add_input("x", "float32", [4, 3])
    network.add_parameter("w", random.standard_normal((3, 2)).astype(np.float32))
    network.add_parameter("b", random.standard_normal(2).astype(np.float32))
    network.add_node("MatMul", ["x", "w"], ["xw"])
    network.add_node("Add", ["xw", "b"], ["h"], name="add")
    network.add_node("Relu", ["h"], ["y"], name="relu")
    network.add_node("ReduceSum", ["y"], ["loss"], keepdims=0)
    network.add_output("loss")
    return network


X = np.random.default_rng(4).standard_normal((4, 3)).astype(np.float32)


def relu_of(framework, *more, dtype="float32", shape=(2,)):
    network = d5.Network("one")
    network.add_input("x", dtype, list(shape))
    network.add_node("Relu", ["x"], ["y"], name="r")
    network.add_output("y")
    return d5.executor(network, [framework, *more])


ONE = {"x": np.array([-1, 2], np.float32)}


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


def test_what_a_kernel_refuses_goes_to_the_next_or_says_why():
    with pytest.raises(d5.Unsupported, match="numpy: element type int32"):
        relu_of("numpy", dtype="int32").inference({"x": np.array([-1, 2], np.int32)})
    y = relu_of("numpy", "reference", dtype="int32").inference({"x": np.array([-1, 2], np.int32)})
    assert y["y"].numpy().tolist() == [0, 2]
    (row,) = d5.test_forward("Sin 3", "numpy")
    assert row.status == "unsupported"
    only_forward = framework_of(Relu=lambda inputs: np.maximum(inputs[0], 0))
    (row,) = d5.test_gradient("Relu 3", only_forward)
    assert row.status == "unsupported" and "has no backward" in row.reason
    executor = d5.executor(perceptron(), [only_forward, "reference"])
    assert executor.inference_and_backprop({"x": X})["loss"].item() > 0


def test_a_shape_that_only_running_tells_is_the_result_s():
    network = d5.Network("nonzero")
    network.add_input("x", "float32", [4])
    network.add_node("NonZero", ["x"], ["y"])
    network.add_output("y")
    executor = d5.executor(network, ["numpy"])
    for x in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 2, 3, 4]):
        y = executor.inference({"x": np.array(x, np.float32)})["y"].numpy()
        np.testing.assert_array_equal(y, np.array(np.nonzero(x)))


@pytest.mark.parametrize(
    "result, error, message",
    [
        (np.zeros(3, np.float32), d5.ShapeError, r"returned float32 3 as output 0, expected .*2"),
        (np.zeros(2), d5.TypeError, "returned float64 2 as output 0, expected float32 2"),
        ((np.zeros(2, np.float32),) * 2, d5.ShapeError, "returned 2 outputs, expected 1"),
        (None, d5.ValueError, "returned None as output 0"),
        ("words", d5.TypeError, "string"),
    ],
)
def test_a_wrong_result_is_named(result, error, message):
    name = framework_of(Relu=lambda inputs: result)
    with pytest.raises(error, match=message) as raised:
        relu_of(name).inference(ONE)
    assert f"Relu 'r': {name}: " in str(raised.value)


def test_a_result_that_is_nan_fails_its_test():
    name = framework_of(Relu=lambda inputs: inputs[0].numpy() * np.float32(np.nan))
    (row,) = d5.test_forward("Relu 3", name)
    assert row.status == "failed" and "nan" in row.reason.lower()


def test_a_kernel_that_changes_its_input_fails():
    def doubled(inputs):
        x = inputs[0].numpy()
        x *= 2
        return np.maximum(x, 0)

    (row,) = d5.test_forward("Relu 3", framework_of(Relu=doubled))
    assert row.status == "failed" and "input 0" in row.reason


def test_an_exception_is_a_typed_error_with_what_raised_it():
    def fail(inputs):
        return 1 / 0

    name = framework_of(Relu=fail)
    with pytest.raises(d5.Error, match="ZeroDivisionError: division by zero") as raised:
        relu_of(name).inference(ONE)
    assert f"Relu 'r': {name}" in str(raised.value)
    assert "test_framework.py:" in str(raised.value)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    (row,) = d5.test_forward("Relu 3", name)
    assert row.status == "failed" and "division by zero" in row.reason

    def numeric(inputs):
        raise d5.NumericError("the sum overflows")

    with pytest.raises(d5.NumericError, match="the sum overflows"):
        relu_of(framework_of(Relu=numeric)).inference(ONE)

    class NoPlan(d5.Kernel):
        def __init__(self, plan):
            raise KeyError("perm")

    with pytest.raises(d5.Error, match="KeyError: 'perm'"):
        relu_of(framework_of(Relu=NoPlan)).inference(ONE)


def test_ctrl_c_within_a_kernel_ends_the_run():
    def interrupt(inputs):
        raise KeyboardInterrupt

    def signal_and_return(inputs):
        os.kill(os.getpid(), signal.SIGINT)
        return np.maximum(inputs[0], 0)

    for kernel in (interrupt, signal_and_return):
        with pytest.raises(KeyboardInterrupt):
            relu_of(framework_of(Relu=kernel)).inference(ONE)
    with pytest.raises(KeyboardInterrupt):
        d5.test_forward("Relu 3", framework_of(Relu=interrupt))


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
        again = type("Again", (d5.Framework,), {"name": "again", "version": version})
        again.kernels = {op: plan for op in ops}
        d5.add_framework(again())
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


def test_what_is_no_framework_is_refused():
    def add(**parts):
        base = {"name": "refused", "version": "1", "kernels": {"Relu": Relu}}
        d5.add_framework(type("Refused", (d5.Framework,), {**base, **parts})())

    for parts, message in [
        ({"name": ""}, "name is ''"),
        ({"name": "a+b"}, "'a\\+b' is no name"),
        ({"name": "reference"}, "'reference' is there already"),
        ({"version": None}, "version is None"),
        ({"kernels": {}}, "without kernels"),
        ({"kernels": {}, "executors": {}}, "without kernels"),
    ]:
        with pytest.raises(d5.ValueError, match=message):
            add(**parts)
    with pytest.raises(d5.TypeError, match="kernels\\['Relu'\\] is 3"):
        add(kernels={"Relu": 3})
    with pytest.raises(d5.TypeError, match="executors\\['whole'\\] is 3"):
        add(executors={"whole": 3})
    assert "refused" not in d5.frameworks()


FILE = """
    import d5
    import numpy as np
    import words_beside

    class Relu(d5.Kernel):
        def __init__(self, plan):
            pass

        def forward(self, inputs):
            return np.maximum(inputs[0], 0)

    class Filed(d5.Framework):
        name = words_beside.NAME
        version = "1"
        kernels = {"Relu": Relu}

    d5.add_framework(Filed())
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
    broken = tmp_path / "broken_framework.py"
    broken.write_text("import nothing_of_this_name")
    with pytest.raises(d5.Error, match="ModuleNotFoundError"):
        d5.op.load(broken)


def test_the_interpreter_ends_while_kernels_are_there():
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import test_framework
        executor = test_framework.relu_of("numpy")
        executor.inference(test_framework.ONE)
        print("end")
    """
    folder = str(__import__("pathlib").Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), folder], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def layer(rows="N"):
    """y = relu(x w + b)"""
    network = d5.Network("layer")
    network.add_input("x", "float32", [rows, 3])
    network.add_parameter("w", np.arange(6, dtype=np.float32).reshape(3, 2) - 2)
    network.add_parameter("b", np.array([1, -1], np.float32))
    network.add_node("MatMul", ["x", "w"], ["xw"])
    network.add_node("Add", ["xw", "b"], ["h"])
    network.add_node("Relu", ["h"], ["y"])
    network.add_output("y")
    return network


def test_a_whole_network_is_compiled_in_python_for_each_size():
    executor = d5.executor(layer(), ["numpy:whole"])
    reference = d5.executor(layer(), ["reference"])
    for rows in (4, 1, 4):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        records = d5.test_executor(executor, reference, {"x": x})
        assert records and {row.status for row in records} == {"passed"}, records
    assert executor.framework == "numpy"
    executor.network.feed("b", np.array([-100, 7], np.float32))
    y = executor.inference({"x": np.zeros((1, 3), np.float32)})["y"]
    assert y.numpy().tolist() == [[0, 7]]


def test_what_computes_shapes_is_computed_before_python_sees_the_network():
    network = layer()
    network.add_node("Shape", ["y"], ["sizes"])
    network.add_constant("all", np.array([0], np.int64))
    network.add_node("Gather", ["sizes", "all"], ["rows"], axis=0)
    network.add_constant("rest", np.array([-1], np.int64))
    network.add_node("Concat", ["rest", "rows"], ["turned"], axis=0)
    network.add_node("Reshape", ["y", "turned"], ["z"])
    network.add_output("z")
    z = d5.executor(network, ["numpy:whole"]).inference({"x": np.ones((4, 3), np.float32)})["z"]
    assert z.numpy().shape == (2, 4)


def test_why_python_does_not_compile_a_network():
    with pytest.raises(d5.Unsupported, match="numpy of 'perceptron': no \\['ReduceSum'\\]"):
        d5.executor(perceptron(), ["numpy:whole"]).inference({"x": X})
    with pytest.raises(d5.Unsupported, match="NumPy has no gradients"):
        d5.executor(perceptron(), ["numpy:whole"]).inference_and_backprop({"x": X})


def executor_of(compile_network):
    class Whole(d5.Framework):
        name = f"small{next(NAMES)}"
        version = "1"
        executors = {"own": compile_network}

    d5.add_framework(Whole())
    return d5.executor(perceptron(), [f"{Whole.name}:own"])


@pytest.mark.parametrize(
    "result, error, message",
    [
        (np.float64(1), d5.TypeError, "float64.*expected float32"),
        (np.zeros(2, "f4"), d5.ShapeError, "expected float32"),
        ((), d5.ShapeError, "returned 0 results, expected 1"),
        (None, d5.ValueError, "None as result 0"),
    ],
)
def test_a_wrong_result_of_a_whole_network_is_named(result, error, message):
    executor = executor_of(lambda plan: lambda inputs: result)
    with pytest.raises(error, match=message):
        executor.inference({"x": X})


def test_gradients_of_a_whole_network_follow_its_outputs():
    def compile_network(plan):
        assert plan.loss == "loss" and sorted(plan.gradients) == ["b", "w"]
        shapes = {"w": (3, 2), "b": (2,)}
        places = {name: plan.input_names.index(name) for name in plan.gradients}

        def run(inputs):
            assert {name: inputs[i].numpy().shape for name, i in places.items()} == shapes
            return (np.float32(3), *(np.full(shapes[name], 5, "f4") for name in plan.gradients))

        return run

    executor = executor_of(compile_network)
    assert executor.inference_and_backprop({"x": X})["loss"].item() == 3
    assert all((p.gradient.numpy() == 5).all() for p in executor.network.parameters)


def test_an_exception_of_a_whole_network_keeps_its_cause():
    with pytest.raises(d5.Error, match="ZeroDivisionError") as raised:
        executor_of(lambda plan: lambda inputs: 1 / 0).inference({"x": X})
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(d5.TypeError, match="compiling gave 3"):
        executor_of(lambda plan: 3).inference({"x": X})
