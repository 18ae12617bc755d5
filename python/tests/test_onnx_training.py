# SPDX-License-Identifier: Apache-2.0
"""Training from ONNX files; PyTorch's judgement is tests/level2_training/export_training.py."""

import numpy as np
import pytest

import d5


def line() -> d5.Network:
    network = d5.Network("line")
    network.add_input("x", "float32", ["N", 1])
    network.add_parameter("w", np.array([[1.0]], np.float32))
    network.add_parameter("b", np.array([0.5], np.float32))
    network.add_node("Gemm", ["x", "w", "b"], ["y"])
    network.add_output("y")
    return network


def test_a_network_gets_a_loss_and_is_saved_without_it(tmp_path):
    network = line()
    assert set(d5.losses()) >= {"cross_entropy", "mse", "bce"}
    d5.append_loss(network, "mse", target="t", target_type="float32", target_shape=["N", 1])
    assert d5.freeze(network, ["b"]) == ["b"]
    optimizer = d5.optimizer("sgd", d5.executor(network), learning_rate=0.1)
    x = np.array([[1.0], [2.0]], np.float32)
    outputs = optimizer.step({"x": x, "t": 3 * x + 0.5})
    assert outputs["loss"].numpy() == pytest.approx(10)  # mean of 2^2 and 4^2
    # slope: mean of 2 (y - t) x = -(2 * 2 * 1 + 2 * 4 * 2) / 2
    assert network.fetch("w").numpy().item() == pytest.approx(1 + 0.1 * 10)
    assert network.fetch("b").numpy().item() == 0.5
    bare = d5.without_loss(network)
    assert bare.input_names == ["x"] and bare.output_names == ["y"]
    d5.unfreeze(bare, ["b"])
    bare.save(tmp_path / "line.onnx")
    assert [p.name for p in d5.Network.load(tmp_path / "line.onnx").parameters] == ["w", "b"]


def test_what_does_not_fit_is_refused():
    with pytest.raises(d5.NotFound, match="mse"):
        d5.append_loss(line(), "mes")
    with pytest.raises(d5.NotFound, match="no parameter matches"):
        d5.freeze(line(), ["c*"])
    with pytest.raises(d5.ValueError, match="nothing is left"):
        d5.freeze(line(), ["*"])


def test_values_are_taken_by_name(tmp_path):
    other = line()
    other.feed("w", np.array([[7.0]], np.float32))
    other.save(tmp_path / "other.onnx")
    network = line()
    assert d5.take_values(network, tmp_path / "other.onnx") == {
        "taken": ["b", "w"], "left": [], "unused": [], "differing": []}
    assert network.fetch("w").numpy().item() == 7
    wide = d5.Network("wide")
    wide.add_input("x", "float32", ["N", 1])
    wide.add_parameter("w", np.zeros((1, 3), np.float32))
    wide.add_node("MatMul", ["x", "w"], ["y"])
    wide.add_output("y")
    with pytest.raises(d5.ShapeError, match="1x1 in the file"):
        d5.take_values(wide, tmp_path / "other.onnx")
    with pytest.raises(d5.NotFound):
        d5.take_values(wide, tmp_path / "other.onnx", skip_differing=True)


def test_safetensors_of_another_program_are_taken(tmp_path):
    numpy_files = pytest.importorskip("safetensors.numpy")
    numpy_files.save_file({"w": np.array([[4.0]], np.float32), "more": np.zeros(2)},
                          tmp_path / "f.safetensors")
    network = line()
    values = d5.take_values(network, tmp_path / "f.safetensors")
    assert values["taken"] == ["w"] and values["left"] == ["b"] and values["unused"] == ["more"]
    assert network.fetch("w").numpy().item() == 4


def test_the_last_checkpoints_stay(tmp_path):
    mnist = d5.dataset("mnist", subset="sample", train_samples=40, test_samples=10)
    optimizer = d5.optimizer("adam", d5.executor(d5.model("lenet", with_loss=True, seed=1)))
    train = d5.sampler("shuffle", mnist.train, batch_size=20)
    d5.Trainer(optimizer, train, epochs=3, checkpoint=tmp_path / "c", checkpoints_kept=2).run()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "c.step-4"]


class Forgetful(d5.Optimizer):
    def __init__(self):
        self.steps = 0

    def update_rule(self, gradient, parameter, index):
        self.steps += 1
        parameter.value.numpy()[...] -= np.float32(0.01) * gradient.numpy()

    def state(self):
        return {"steps": np.array(self.steps)}

    def restore(self, state):
        pass


def test_an_optimizer_that_forgets_is_not_resumed(tmp_path):
    mnist = d5.dataset("mnist", subset="sample", train_samples=40, test_samples=10)
    for resumes in (False, True):
        executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
        optimizer = d5.optimizer(Forgetful(), executor)
        train = d5.sampler("shuffle", mnist.train, batch_size=20)
        trainer = d5.Trainer(optimizer, train, epochs=1, checkpoint=tmp_path / "c")
        if not resumes:
            trainer.run()
        else:
            with pytest.raises(d5.FormatError, match="steps"):
                trainer.resume(tmp_path / "c")
