# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import threading

import numpy as np
import pytest
from rank_jobs import alone

import d5


def linear():
    network = d5.Network("linear")
    network.add_input("x", "float32", ["N", 2])
    network.add_parameter("w", np.array([[1.0, 2.0]], dtype=np.float32))
    network.add_node("Gemm", ["x", "w"], ["y"], transB=1)
    network.add_node("ReduceSum", ["y"], ["loss"], keepdims=0)
    network.add_output("y")
    network.add_output("loss")
    return network


def test_a_network_by_code_runs_and_backpropagates():
    executor = d5.executor(linear())
    x = np.array([[1, 1], [2, 0.5]], dtype=np.float32)
    outputs = executor.inference_and_backprop({"x": x}, loss="loss")
    assert outputs["y"].numpy().tolist() == [[3.0], [3.0]]
    (parameter,) = executor.network.parameters
    # d(sum of x w^T)/dw is the sum of x over the samples.
    assert parameter.gradient.numpy().tolist() == [[3.0, 1.5]]


def test_saved_and_loaded_it_gives_the_same(tmp_path, random):
    network = d5.model("lenet", seed=3)
    network.save(str(tmp_path / "lenet.onnx"))
    image = random.standard_normal((2, 1, 28, 28)).astype(np.float32)
    (name,) = network.output_names
    first = d5.executor(network).inference({"image": image})[name].numpy()
    second = d5.executor(d5.Network.load(str(tmp_path / "lenet.onnx"))).inference({"image": image})
    assert (first == second[name].numpy()).all()


@alone("the program would take itself for the rank that started it")
def test_the_program_reads_and_writes_the_files_of_numpy(tmp_path, random):
    network = linear()
    network.save(tmp_path / "linear.onnx")
    x = random.standard_normal((3, 2)).astype(np.float32)
    for array in (x, np.asfortranarray(x)):
        np.save(tmp_path / "x.npy", array)
        subprocess.run([sys.executable, "-m", "d5", "net", "run", tmp_path / "linear.onnx",
                        "--input", f"x={tmp_path}/x.npy", "--output", f"y={tmp_path}/y.npy"],
                       check=True, capture_output=True)
        y = np.load(tmp_path / "y.npy")
        assert y.dtype == np.float32
        np.testing.assert_allclose(y, x @ [[1.0], [2.0]], rtol=1e-6)  # a sum of two products


@pytest.mark.parametrize("transform, options", [
    (None, {}),
    ("fuse-activation", {}),
    ("opset", {"version": 23}),
    ("microbatch", {"batch": 2, "memory": "16KiB"}),
])
def test_onnxruntime_agrees(tmp_path, random, transform, options):
    onnxruntime = pytest.importorskip("onnxruntime")
    network = d5.model("lenet", seed=3)
    if transform:
        assert network.apply(transform, **options).what
    path = str(tmp_path / "lenet.onnx")
    network.save(path)
    image = random.standard_normal((2, 1, 28, 28)).astype(np.float32)
    (name,) = network.output_names
    ours = d5.executor(network).inference({"image": image})[name].numpy()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    # float32 sums of up to 400 terms in another order
    np.testing.assert_allclose(ours, session.run([name], {"image": image})[0], rtol=1e-4, atol=1e-5)


def test_two_executors_are_compared_and_the_node_that_differs_is_named():
    @d5.operator("Doubled", domain="org.example.python")
    class Doubled(d5.Operator):
        def forward(self, context):
            context.output(0).numpy()[...] = 2 * context.input(0).numpy()

    @d5.operator("Halved", domain="org.example.python")
    class Halved(d5.Operator):
        runs = 0

        def forward(self, context):
            Halved.runs += 1
            context.output(0).numpy()[...] = context.input(0).numpy() * (0.5 + Halved.runs)

    x = np.array([1, -2], dtype=np.float32)
    network = d5.Network("scales")
    network.add_input("x", "float32", [2])
    network.add_node("Doubled", ["x"], ["d"], domain="org.example.python", name="right")
    network.add_node("Halved", ["d"], ["h"], domain="org.example.python", name="another each time")
    network.add_node("Exp", ["h"], ["y"], name="after it")
    network.add_output("y")
    rows = d5.compare_nodes(network, {"x": x}, frameworks=["reference"], rtol=1e-6)
    assert d5.first_to_differ(rows).conditions["node"] == "another each time"
    own = {r.conditions["node"]: r.status for r in rows if r.metric == "own_error"}
    assert own == {"right": "passed", "another each time": "failed", "after it": "passed"}

    right = d5.compare_nodes(linear(), {"x": np.ones((3, 2), np.float32)}, frameworks=["reference"])
    assert d5.first_to_differ(right) is None and len(right) == 4
    judged = d5.test_executor(d5.executor(linear()), d5.executor(linear()),
                              {"x": np.ones((3, 2), np.float32)}, loss="loss")
    assert {row.conditions["tensor"] for row in judged} == {"output y", "output loss",
                                                            "gradient of w"}
    assert all(row.status == "passed" for row in judged)


def test_errors_arrive_as_matching_exceptions(tmp_path):
    executor = d5.executor(linear())
    with pytest.raises(d5.NotFound, match="x"):
        executor.inference({"z": np.zeros((1, 2), dtype=np.float32)})
    with pytest.raises(d5.ShapeError) as caught:
        executor.inference({"x": np.zeros((1, 3), dtype=np.float32)})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, d5.Error)
    with pytest.raises(d5.TypeError):
        executor.inference({"x": np.zeros((1, 2), dtype=np.int32)})
    with pytest.raises(OSError):
        d5.Network.load(str(tmp_path / "missing.onnx"))
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(d5.FormatError):
        d5.Network.load(str(tmp_path / "broken.onnx"))
    with pytest.raises(d5.NotFound, match="did you mean lenet"):
        d5.model("lennet")


def test_an_event_in_python_sees_nodes_and_gradients():
    class Recorder(d5.Event):
        def __init__(self):
            self.seen = []

        def before_node(self, step):
            self.seen.append((step.node.op_type, step.direction))
            assert step.framework == "reference" and step.device.startswith("cpu")

        def gradient_ready(self, parameter, index):
            self.seen.append((parameter.name, index))

    recorder = Recorder()
    executor = d5.executor(linear())
    executor.add_event(recorder)
    executor.inference_and_backprop({"x": np.ones((1, 2), dtype=np.float32)})
    assert recorder.seen == [
        ("Gemm", "forward"), ("ReduceSum", "forward"),
        ("ReduceSum", "backward"), ("Gemm", "backward"), ("w", 0),
    ]


def test_gradients_of_any_tensor():
    executor = d5.executor(linear(), gradients=["x", "y"])
    inputs = {"x": np.array([[1, 1], [2, 0.5]], dtype=np.float32)}
    executor.inference_and_backprop(inputs)
    assert executor.gradient("y").numpy().tolist() == [[1.0], [1.0]]
    assert executor.gradient("x").numpy().tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert executor.gradient("w").numpy().tolist() == [[3.0, 1.5]]
    batch = executor.forward(inputs, ["y"])
    batch.backward({"y": np.array([[1], [10]], dtype=np.float32)})
    assert batch.gradient("x").numpy().tolist() == [[1.0, 2.0], [10.0, 20.0]]
    alone = d5.executor(linear(), gradients=["y"], parameter_gradients=False)
    alone.inference_and_backprop(inputs)
    assert alone.gradient("y").numpy().tolist() == [[1.0], [1.0]]
    with pytest.raises(d5.NotFound, match="in the option gradients"):
        alone.gradient("w")
    with pytest.raises(d5.NotFound, match="did you mean"):
        d5.executor(linear(), gradients=["yy"]).inference_and_backprop(inputs)


def test_an_event_ends_a_run_early():
    class EndAfter(d5.Event):
        passes: tuple[str, ...] = ()

        def before_pass(self, direction):
            self.passes += (direction,)

        def after_node(self, step):
            if step.node.op_type == "Gemm":
                executor.end_run()

        def after_pass(self, direction):
            self.passes += ("end",)

    event = EndAfter()
    executor = d5.executor(linear())
    executor.add_event(event)
    outputs = executor.inference_and_backprop({"x": np.ones((1, 2), dtype=np.float32)})
    assert executor.ended_early and list(outputs) == ["y"]
    assert event.passes == ("forward", "end")


def test_nodes_are_placed_by_rules():
    class Frameworks(d5.Event):
        seen: tuple[str, ...] = ()

        def before_node(self, step):
            self.seen += (step.framework,)

    event = Frameworks()
    executor = d5.executor(linear(), placement=["Gemm=reference", "node:*=reference"])
    executor.add_event(event)
    executor.inference({"x": np.ones((1, 2), dtype=np.float32)})
    assert event.seen == ("reference", "reference")
    with pytest.raises(d5.NotFound, match="did you mean Gemm"):
        wrong = d5.executor(linear(), placement=["Gem=reference"])
        wrong.inference({"x": np.ones((1, 2), dtype=np.float32)})
    with pytest.raises(d5.NotFound, match="did you mean reference"):
        d5.executor(linear(), placement=["Gemm=referenc"])


def test_gradients_are_held_against_finite_differences():
    x = np.array([[1, 1], [2, 0.5]], dtype=np.float32)
    (record,) = d5.test_numeric_gradients(d5.executor(linear()), {"x": x}, "loss")
    assert record.status == "passed" and record.conditions["tensor"] == "gradient of w"


def test_an_operator_in_python_runs_forward_and_backward_inside_the_executor():
    @d5.operator("Cube", domain="org.example.python")
    class Cube(d5.Operator):
        def forward(self, context):
            context.output(0).numpy()[...] = context.input(0).numpy() ** 3

        def backward(self, context):
            slope = 3 * context.input(0).numpy() ** 2
            context.grad_input(0).numpy()[...] = context.grad_output(0).numpy() * slope

    network = d5.Network("cube")
    network.add_input("x", "float32", [1])
    network.add_parameter("w", np.array([2.0], dtype=np.float32))
    network.add_node("Mul", ["x", "w"], ["xw"])
    network.add_node("Cube", ["xw"], ["cube"], domain="org.example.python")
    network.add_node("ReduceSum", ["cube"], ["loss"], keepdims=0)
    network.add_output("loss")
    executor = d5.executor(network, ["reference"])
    outputs = executor.inference_and_backprop({"x": np.array([0.5], dtype=np.float32)})
    assert outputs["loss"].item() == 1.0
    # d/dw (x w)^3 = 3 (x w)^2 x = 1.5
    assert executor.network.parameters[0].gradient.numpy().tolist() == [1.5]


def test_an_exception_in_python_passes_through_the_executor():
    class Broken(d5.Event):
        def before_node(self, step):
            raise KeyError("mine")

    executor = d5.executor(linear())
    executor.add_event(Broken())
    with pytest.raises(KeyError, match="mine"):
        executor.inference({"x": np.ones((1, 2), dtype=np.float32)})


def test_a_long_call_lets_other_threads_run(random):
    # The other thread counts while this one is inside a single C++ call: with the interpreter's lock
    # held throughout the call it could not count at all.
    executor = d5.executor(d5.model("lenet"))
    image = random.standard_normal((512, 1, 28, 28)).astype(np.float32)
    executor.inference({"image": image})
    counts = {"inside": 0}
    inside, stop = threading.Event(), threading.Event()

    class Mark(d5.Event):
        def before_run(self, direction):
            inside.set()

        def after_run(self, direction):
            inside.clear()

    def count():
        while not stop.is_set():
            if inside.is_set():
                counts["inside"] += 1

    executor.add_event(Mark())
    thread = threading.Thread(target=count)
    thread.start()
    executor.inference({"image": image})
    stop.set()
    thread.join()
    assert counts["inside"] > 0


def test_dicts_go_in_for_maps_and_come_out(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    words = helper.make_map_type_proto(
        onnx.TensorProto.STRING, helper.make_tensor_type_proto(float32, [])
    )
    graph = helper.make_graph(
        [
            helper.make_node(
                "DictVectorizer", ["x"], ["row"], domain="ai.onnx.ml", string_vocabulary=["a", "b"]
            ),
            helper.make_node(
                "ZipMap", ["row"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[5, 6]
            ),
        ],
        "maps",
        [helper.make_value_info("x", words)],
        [
            helper.make_value_info(
                "y",
                helper.make_sequence_type_proto(
                    helper.make_map_type_proto(
                        onnx.TensorProto.INT64, helper.make_tensor_type_proto(float32, [])
                    )
                ),
            )
        ],
    )
    path = str(tmp_path / "maps.onnx")
    onnx.save(
        helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 22)],
            ir_version=10,
        ),
        path,
    )
    executor = d5.executor(d5.Network.load(path))
    (row,) = executor.inference({"x": {"b": np.float32(2)}})["y"]
    assert {key: value.numpy().item() for key, value in row.items()} == {5: 0.0, 6: 2.0}
    with pytest.raises(TypeError, match="texts, or integers"):
        executor.inference({"x": {1.5: np.float32(2)}})


def test_a_network_is_transformed_and_edited_in_place():
    assert {"dead-code", "fold-batch-norm", "half-precision"} <= set(d5.transforms())
    network = linear()
    network.add_node("Exp", ["y"], ["unread"])
    applied = network.apply("dead-code")
    assert (applied.nodes_before, applied.nodes_after, applied.left) == (3, 2, [])
    assert "removed 1 nodes" in applied.what
    network.insert_node("y", "Neg", ["y"], ["negative"])
    network.rename("loss", "total")
    x = np.array([[1, 1]], dtype=np.float32)
    outputs = d5.executor(network).inference({"x": x})
    assert outputs["total"].item() == -3.0
    network.replace_node(network.nodes[1].name, "Abs", ["y"], ["negative"])
    assert d5.executor(network).inference({"x": x})["total"].item() == 3.0
    network.redirect({"negative": "x"})
    network.apply("dead-code")
    assert d5.executor(network).inference({"x": x})["total"].item() == 2.0
    network.apply("half-precision", type="bfloat16")
    assert network.fetch("w").dtype == "bfloat16"
    with pytest.raises(d5.NotFound, match="did you mean dead-code"):
        network.apply("dead-cod")


def test_random_inputs_fit_and_repeat():
    network = d5.model("lenet", with_loss=True)
    inputs = d5.random_inputs(network, batch=3, seed=7)
    assert set(inputs) == {"image", "label"} and np.asarray(inputs["image"]).shape == (3, 1, 28, 28)
    again = d5.random_inputs(network, batch=3, seed=7)
    assert all(np.array_equal(inputs[name], again[name]) for name in inputs)
    assert d5.executor(network).inference(inputs)["logits"].shape == (3, 10)
    with pytest.raises(d5.NotFound):
        d5.random_inputs(network, dims={"M": 2})


def lenet_with_loss(random):
    image = random.standard_normal((4, 1, 28, 28)).astype(np.float32)
    inputs = {"image": image, "label": np.arange(4)}
    return d5.model("lenet", seed=3, with_loss=True), inputs


def test_a_memory_limit_refuses_a_plan_above_it(random):
    network, inputs = lenet_with_loss(random)
    with pytest.raises(d5.MemoryError, match="memory limit of 64 KiB"):
        d5.executor(network, memory_limit="64KiB").inference(inputs)
    assert "loss" in d5.executor(network, memory_limit=1 << 24).inference(inputs)


def test_recomputing_leaves_gradients_the_same(random):
    network, inputs = lenet_with_loss(random)

    def gradients(recompute):
        executor = d5.executor(network, recompute=recompute)
        steps = []

        class Steps(d5.Event):
            def before_node(self, step):
                steps.append(step.recomputed)

        executor.add_event(Steps())
        executor.inference_and_backprop(inputs)
        return [p.gradient.numpy().copy() for p in executor.network.parameters], sum(steps)

    kept, none = gradients([])
    again, some = gradients(["conv1", "relu1"])
    assert none == 0 and some == 2
    assert all(np.array_equal(a, b) for a, b in zip(kept, again))


class WithoutIdentity(d5.Transform):
    """Registered nowhere."""

    def __init__(self, most=10):
        self.most, self.removed = most, []

    def apply(self, network):
        for name in [node.name for node in network.nodes if node.op_type == "Identity"][: self.most]:
            node = network.node(name)
            network.redirect({node.outputs[0]: node.inputs[0]})
            network.remove_node(name)
            self.removed.append(name)
        return f"removed {len(self.removed)} Identity" if self.removed else ""


def identities(count):
    network = d5.Network("identities")
    network.add_input("x", "float32", [2])
    for i in range(count):
        network.add_node("Identity", [f"y{i - 1}" if i else "x"], [f"y{i}"], name=f"n{i}")
    network.add_node("Relu", [f"y{count - 1}"], ["y"])
    network.add_output("y")
    return network


def test_an_object_of_a_transform_is_applied():
    network, transform = identities(3), WithoutIdentity(most=2)
    before = d5.transforms()
    applied = network.apply(transform)
    assert (applied.transform, applied.what) == ("WithoutIdentity()", "removed 2 Identity")
    assert (applied.nodes_before, applied.nodes_after) == (4, 2) and transform.removed == ["n0", "n1"]
    assert network.apply(WithoutIdentity()).nodes_after == 1
    assert d5.transforms() == before
    with pytest.raises(d5.ValueError, match="register its class"):
        network.apply("WithoutIdentity()")
    with pytest.raises(d5.UnknownOption, match="most"):
        network.apply(transform, most=3)


def test_an_object_of_a_transform_is_judged_as_others_are():
    class Wrong(d5.Transform):
        def apply(self, network):
            network.replace_node("n0", "Neg", ["x"], ["y0"], name="n0")
            return "made it another"

    network = identities(1)
    with pytest.raises(d5.Error, match="Wrong"):
        network.apply(Wrong())
    assert network.node("n0").op_type == "Identity"


def test_a_transform_that_changes_values_alone_is_judged():
    class Louder(d5.Transform):
        def apply(self, network):
            network.feed("fc3.bias", np.full(10, 100, np.float32))

    network = d5.model("lenet", seed=1)
    before = network.fetch("fc3.bias").numpy().copy()
    with pytest.raises(d5.Error, match="Louder"):
        network.apply(Louder())
    assert np.array_equal(network.fetch("fc3.bias").numpy(), before)


def test_nodes_and_parameters_are_equal_to_themselves_in_their_network():
    network, other = d5.model("lenet", seed=1), d5.model("lenet", seed=1)
    p, nodes = network.parameters, network.nodes
    weight = p["fc1.weight"]
    assert p[0] == p[0] and p[0] in p and p[0] != p[1] and len({*p, *p}) == len(p)
    assert weight == p["fc1.weight"] and hash(weight) == hash(p["fc1.weight"])
    assert weight != other.parameters["fc1.weight"] and weight not in other.parameters
    assert "fc1.weight" in p and "fc1" not in p and weight != "fc1.weight" and None not in p
    assert network.node("conv1") == network.node("conv1") == nodes["conv1"] and nodes[0] != nodes[1]
    assert nodes[0] in nodes and len({*nodes, *nodes}) == len(nodes)
    assert "conv1" in nodes and "conv" not in nodes and p[0] not in nodes and np.zeros(2) not in nodes


def test_two_parameters_over_one_array_are_not_equal():
    network, values = d5.Network("shared"), np.ones(2, np.float32)
    network.add_parameter("a", values)
    network.add_parameter("b", values)
    a, b = network.parameters["a"], network.parameters["b"]
    assert a == network.parameters["a"] and a != b
