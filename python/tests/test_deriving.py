# SPDX-License-Identifier: Apache-2.0
"""Parts of levels 1 and 2 that are written in Python, each used by d5's own C++ through its name."""

import pathlib

import numpy as np
import pytest

import d5

@d5.register
class WithoutIdentity(d5.Transform):
    """Takes nodes out that do nothing."""

    def apply(self, network):
        found = [node for node in network.nodes if node.op_type == "Identity"]
        for node in found:
            network.redirect({node.outputs[0]: node.inputs[0]})
            network.remove_node(node.name)
        return f"removed {len(found)} Identity" if found else None


def chain():
    network = d5.Network("chain")
    network.add_input("x", "float32", [2])
    network.add_node("Identity", ["x"], ["y"], name="nothing")
    network.add_node("Relu", ["y"], ["z"], name="relu")
    network.add_output("z")
    return network


def test_a_transform_in_python_is_applied_by_its_name():
    network = chain()
    done = network.apply("without_identity")
    assert (done.nodes_before, done.nodes_after, done.what) == (2, 1, "removed 1 Identity")
    assert network.apply("without_identity").what == ""
    outputs = d5.executor(network).inference({"x": np.array([-1, 2], np.float32)})
    assert outputs["z"].numpy().tolist() == [0, 2]
    assert isinstance(d5.transform("dead-code"), d5.Transform)


def test_a_transform_that_returns_something_else_is_told():
    @d5.register
    class Odd(d5.Transform):
        def apply(self, network):
            return 3

    with pytest.raises(d5.TypeError, match="Odd.apply returned 3"):
        chain().apply("odd")


@d5.register("tests-double", kind="model")
def doubling(seed: int = 0, factor: float = 2.0):
    """Multiplies."""
    network = d5.Network("doubling")
    network.add_input("x", "float32", ["N", 1])
    network.add_parameter("w", np.array([[factor]], np.float32))
    network.add_node("MatMul", ["x", "w"], ["y"], name="product")
    network.add_output("y")
    return network


def test_a_model_in_python_is_one_of_the_models():
    assert "tests-double" in d5.models()
    network = d5.model("tests-double", factor=3.0)
    assert d5.executor(network).inference({"x": np.array([[2]], np.float32)})["y"].numpy().tolist() == [[6]]
    with pytest.raises(d5.NotFound, match="factor"):
        d5.model("tests-double", factr=3.0)


@d5.register(kind="loss")
def absolute_of_tests(network, output, target, loss, scale: float = 1.0):
    """Mean of the absolute difference."""
    network.add_constant("scale", np.float32(scale))
    network.add_node("Sub", [output, target], ["difference"])
    network.add_node("Abs", ["difference"], ["absolute"])
    network.add_node("ReduceMean", ["absolute"], ["mean"], keepdims=0)
    network.add_node("Mul", ["mean", "scale"], [loss])


def loss_network(**options):
    network = d5.model("tests-double")
    d5.append_loss(network, "absolute_of_tests", target="t", target_type="float32", target_shape=["N", 1], **options)
    return network


def test_a_loss_in_python_trains():
    network = loss_network(scale=10.0)
    executor = d5.executor(network)
    fed = {"x": np.array([[1], [3]], np.float32), "t": np.array([[0], [0]], np.float32)}
    outputs = executor.inference_and_backprop(fed)
    assert outputs["loss"].numpy() == 40  # 10 times the mean of 2 and 6
    assert network.parameters[0].gradient.numpy().tolist() == [[20]]  # 10 times the mean of x


class ByHand(d5.GraphExecutor):
    """y = x w, its loss and its gradient, in NumPy."""

    framework = "by-hand"

    def inference(self, inputs):
        y = inputs["x"].numpy() @ self.network.fetch("w").numpy()
        return {"y": y, "loss": np.float32(np.abs(y - inputs["t"].numpy()).mean())}

    def inference_and_backprop(self, inputs, loss):
        assert loss == "loss"
        outputs = self.inference(inputs)
        sign = np.sign(outputs["y"] - inputs["t"].numpy()) / len(outputs["y"])
        self.network.parameters[0].gradient.numpy()[...] = inputs["x"].numpy().T @ sign
        return outputs


def test_an_executor_in_python_trains_as_d5s_own():
    fed = {"x": np.array([[1], [3]], np.float32), "t": np.array([[0], [0]], np.float32)}
    values = []
    for executor in (ByHand(loss_network()), d5.executor(loss_network())):
        assert isinstance(executor, d5.GraphExecutor)
        optimizer = d5.optimizer("momentum", executor, learning_rate=0.1)
        losses = [float(optimizer.step(fed)["loss"].numpy()) for _ in range(4)]
        values.append((losses, executor.network.fetch("w").numpy().item()))
    assert values[0] == values[1]
    assert ByHand(loss_network()).framework == "by-hand"


def test_what_watches_an_executor_in_python_sees_one_step_and_all_gradients():
    seen = []

    class Watch(d5.Event):
        def before_node(self, step):
            seen.append(("node", step.framework, step.direction))

        def gradient_ready(self, parameter, index):
            seen.append(("gradient", parameter.name, index))

    executor = ByHand(loss_network())
    executor.add_event(Watch())
    optimizer = d5.optimizer("sgd", executor)
    optimizer.step({"x": np.array([[1]], np.float32), "t": np.array([[0]], np.float32)})
    assert seen == [("node", "by-hand", "backward"), ("gradient", "w", 0)]


def test_an_executor_that_forgets_an_output_or_backpropagation_is_told():
    class Forgetful(d5.GraphExecutor):
        def inference(self, inputs):
            return {"y": inputs["x"]}

    executor = Forgetful(loss_network())
    optimizer = d5.optimizer("sgd", executor)
    with pytest.raises(d5.Unsupported, match="Forgetful runs forward alone"):
        optimizer.step({"x": np.array([[1]], np.float32), "t": np.array([[0]], np.float32)})

    class Half(Forgetful):
        def inference_and_backprop(self, inputs, loss):
            return self.inference(inputs)

    with pytest.raises(d5.NotFound, match="returned no output 'loss'"):
        d5.optimizer("sgd", Half(loss_network())).step({"x": np.array([[1]], np.float32), "t": np.array([[0]], np.float32)})


class OwnSgd(d5.Optimizer):
    def __init__(self, learning_rate: float = 0.5):
        self.learning_rate = learning_rate

    def update_rule(self, gradient, parameter, index):
        parameter.value -= self.learning_rate * gradient

    def state(self):
        return {}

    def restore(self, state): ...


class Small(d5.Framework):
    name, version = "tests-small", "1"
    executors = {"hand": ByHand}
    optimizers = {"sgd": OwnSgd}


def test_a_framework_in_python_brings_executors_and_optimizers_of_its_own():
    d5.register(Small)
    executor = d5.executor(loss_network(), ["tests-small:hand"])
    optimizer = d5.optimizer("tests-small/sgd", executor, learning_rate=1.0)
    optimizer.step({"x": np.array([[1]], np.float32), "t": np.array([[0]], np.float32)})
    assert executor.network.fetch("w").numpy().item() == 1  # 2 - 1 times the gradient of |w|


@d5.register
class Invert(d5.SampleStep):
    """The values from the other end."""

    def __init__(self, most: float = 255.0):
        self.most = most

    def describe(self, dtype, shape):
        return "float32", shape

    def run(self, sample, seed):
        return np.float32(self.most) - sample.numpy().astype(np.float32)


@d5.register
class Noise(d5.SampleStep):
    def run(self, sample, seed):
        return sample.numpy() + np.random.default_rng(seed).standard_normal(sample.shape).astype(np.float32)


def points():
    return d5.tensor_dataset({"x": np.arange(6, dtype=np.uint8).reshape(3, 2), "label": np.array([0, 1, 2], np.int64)})


def test_sample_steps_in_python_are_part_of_a_data_set():
    data = d5.transformed(points(), [{"name": "invert", "most": 10.0}], field="x")
    assert data.fields()["x"] == ("float32", [2])
    assert data[1]["x"].numpy().tolist() == [8, 7]
    noisy = d5.transformed(data, ["noise"], field="x")
    draws = [noisy.sample(0, seed=1, epoch=epoch)["x"].numpy().tolist() for epoch in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]  # all that is random comes of the seed
    step = d5.sample_step("cast", to="float32")
    assert isinstance(step, d5.SampleStep) and step.run(np.array([0, 1], np.uint8)).numpy().tolist() == [0, 1]


@d5.register
class Reversed(d5.BatchStep):
    def fields(self, fields):
        return {**fields, "x": ("float64", fields["x"][1])}

    def run(self, batch, seed):
        return {"x": batch["x"].numpy()[::-1].astype(np.float64)}


def test_batch_steps_in_python_change_batches():
    sampler = d5.with_batch_steps(d5.sampler("ordered", points(), batch_size=3), ["reversed"])
    batch = sampler.next()
    assert batch.values["x"].dtype == "float64"
    assert batch.values["x"].numpy()[:, 0].tolist() == [4, 2, 0]
    assert batch.values["label"].numpy().tolist() == [0, 1, 2]  # left as it was


class NpzData(d5.Dataset):
    name = "npz"

    def __init__(self, files):
        self.parts = [np.load(file) for file in files]
        self.all = {key: np.concatenate([part[key] for part in self.parts]) for key in self.parts[0].files}

    def __len__(self):
        return len(next(iter(self.all.values())))

    def fields(self):
        return {name: (value.dtype.name, list(value.shape[1:])) for name, value in self.all.items()}

    def read(self, index, seed, epoch):
        return {name: value[index] for name, value in self.all.items()}


class NpzWriter(d5.ContainerWriter):
    def __init__(self, path, fields):
        self.path, self.samples = path, {name: [] for name in fields}

    def add(self, name, sample):
        for field, value in sample.items():
            self.samples[field].append(value.numpy().copy())

    def finish(self):
        with open(self.path, "wb") as file:
            np.savez(file, **{name: np.stack(values) for name, values in self.samples.items()})  # type: ignore[arg-type]


@d5.register("tests-npz")
class Npz(d5.Container):
    """NumPy's archives."""

    extension = "npz"

    def open(self, files):
        return NpzData(files)

    def create(self, path, fields):
        return NpzWriter(path, fields)


def test_a_container_in_python_keeps_every_byte(tmp_path: pathlib.Path):
    files = d5.convert(points(), tmp_path / "few.npz", shards=2)
    assert len(files) == 2
    again = d5.open_container(tmp_path / "few.npz")
    assert len(again) == 3
    for i in range(3):
        assert again[i]["x"].numpy().tolist() == points()[i]["x"].numpy().tolist()
        assert again[i]["label"].numpy() == i


def test_what_cannot_be_registered_is_told():
    with pytest.raises(d5.TypeError, match="derives from no class whose parts have names"):
        d5.register(int)
    with pytest.raises(d5.TypeError, match="say what it is"):
        d5.register(lambda network: None)
    with pytest.raises(d5.NotFound, match="no kind 'los'"):
        d5.register("x", kind="los")(lambda network: None)
    with pytest.raises(d5.TypeError, match="has no method run"):
        d5.register("tests-empty")(type("Empty", (d5.SampleStep,), {}))
        d5.transformed(points(), ["tests-empty"], field="x")[0]


def test_a_step_alone_refuses_what_it_cannot_process():
    step = d5.sample_step("tokenize", tokenizer="bytes", length=4)
    assert step.run("ab").tolist() == [97, 98, 0, 0]
    for given in (["ab", "cd"], 3, 1.5, np.array([97, 98], np.int32)):
        with pytest.raises(d5.TypeError, match="expected a text: a string, or a vector of bytes"):
            step.run(given)
