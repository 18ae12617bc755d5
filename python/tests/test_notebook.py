# SPDX-License-Identifier: Apache-2.0
"""What a person at a prompt sees and does."""

import pathlib
import xml.etree.ElementTree

import numpy as np
import pytest

import d5


def test_everything_says_what_it_is():
    mnist = d5.dataset("mnist")
    network = d5.model("lenet", with_loss=True)
    executor = d5.executor(network)
    sampler = d5.sampler("ordered", mnist.test, batch_size=100)
    optimizer = d5.optimizer("sgd", executor)
    seen = {
        network: "<d5.Network lenet: ",
        executor: "<d5.GraphExecutor in reference of <d5.Network lenet",
        mnist.test: "<d5.Dataset mnist",
        mnist: "<d5.DatasetPair train=<d5.Dataset",
        sampler: f"<d5.Sampler: {len(mnist.test) // 100} batches an epoch of <d5.Dataset",
        sampler.next(): "<d5.Batch 0 of epoch 0: 100 samples>",
        optimizer: "<d5.Optimizer of <d5.Network",
        d5.Trainer(optimizer, sampler): "<d5.Trainer: epoch 0 of 1, step 0>",
        d5.training_metric("test_accuracy"): "<d5.TrainingMetric test_accuracy: 0 samples>",
        d5.recipe("mnist-lenet"): "<d5.Recipe mnist-lenet: ",
        d5.world(): "<d5.Communicator rank 0 of 1>",
    }
    for thing, text in seen.items():
        assert repr(thing).startswith(text)
    assert "image float32 Nx1x28x28" in repr(network) and "image float32 1x28x28" in repr(mnist.test)


def test_measurements_are_a_list_that_shows_as_a_table():
    rows = d5.measure(lambda: None, name="<nothing> & more")
    assert isinstance(rows, list) and isinstance(rows, d5.Measurements)
    assert str(rows) == d5.to_table(rows)
    html = rows._repr_html_()
    assert "&lt;nothing&gt; &amp; more" in html and "<nothing>" not in html
    assert "&lt;nothing&gt;" in rows[0]._repr_html_()
    (table,) = xml.etree.ElementTree.fromstring(f"<div>{html}</div>").iter("table")
    assert len(table.findall("tbody/tr")) == len(rows)
    titles = [cell.text for cell in table.iter("th")]
    assert "subject" in titles and "value" in titles
    assert isinstance(rows[:1], d5.Measurements) and isinstance(rows + rows, d5.Measurements)
    assert isinstance(rows[0], d5.Measurement) and len(rows + rows) == 2
    assert repr(rows[0]).startswith("<d5.Measurement <nothing> & more time: 30 samples, ")
    assert isinstance(d5.bench("Relu 2x3", samples=3), d5.Measurements)
    assert isinstance(d5.test_gradient("Relu 2x3"), d5.Measurements)


def test_a_cell_with_an_operator_runs_twice():
    def run(factor):
        @d5.operator("Scaled", domain="org.example.notebook")
        class Scaled(d5.Operator):
            def forward(self, context):
                context.output(0).numpy()[...] = factor * context.input(0).numpy()

        network = d5.Network("scaled")
        network.add_input("x", "float32", [2])
        network.add_node("Scaled", ["x"], ["y"], domain="org.example.notebook")
        network.add_output("y")
        executor = d5.executor(network)
        return executor.inference({"x": np.ones(2, np.float32)})["y"].numpy().tolist()

    assert run(2) == [2, 2]
    assert run(3) == [3, 3]


def test_an_operator_that_overlaps_another_is_refused_each_time():
    make = type("Versions", (d5.Operator,), {})
    d5.operator("Versions", domain="org.example.notebook")(make)
    for _ in range(2):
        with pytest.raises(d5.ValueError, match="Versions"):
            d5.operator("Versions", domain="org.example.notebook", since=2)(make)


def test_files_are_named_by_path_or_text(tmp_path):
    assert isinstance(tmp_path, pathlib.Path)
    network = d5.model("lenet", seed=3)
    network.save(tmp_path / "lenet.onnx")
    network.save(str(tmp_path / "again.onnx"))
    assert (tmp_path / "lenet.onnx").read_bytes() == (tmp_path / "again.onnx").read_bytes()
    assert repr(d5.Network.load(tmp_path / "lenet.onnx")) == repr(network)
    rows = d5.bench_network(tmp_path / "lenet.onnx", batch=1, samples=3, metrics=["time"])
    d5.write_results(rows, tmp_path / "rows.json")
    assert d5.read_results(tmp_path / "rows.json")[0].samples == rows[0].samples
    sample = pathlib.Path(__file__).resolve().parents[2] / "data" / "mnist-sample"
    assert len(d5.dataset("mnist", data=sample).test) == 1000
    recipe = pathlib.Path(__file__).resolve().parents[2] / "recipes" / "mnist-lenet-quick.yaml"
    few = ["training.epochs=1", "training.most_batches=2"]
    rows, _ = d5.train(recipe, set=few, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").exists() and rows
    d5.train(d5.recipe(recipe), set=few, resume=tmp_path / "run")


def test_a_data_set_counts_and_ends_as_python_s_lists_do():
    test = d5.dataset("mnist").test
    assert (test[-1]["image"].numpy() == test[len(test) - 1]["image"].numpy()).all()
    for place in (len(test), -len(test) - 1):
        with pytest.raises(IndexError):
            test[place]
    assert sum(1 for _ in test) == len(test)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, None], dtype=object),
        np.array([np.zeros(2), np.zeros(3)], dtype=object),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.zeros(2, dtype=[("a", np.int8)]),
        [1, None],
    ],
)
def test_what_is_no_array_of_numbers_or_strings_is_refused(array):
    with pytest.raises(d5.TypeError, match="expected numbers"):
        d5.Tensor(array)


def test_bytes_are_strings():
    assert d5.Tensor(np.array([b"ab", b"c"])).numpy().tolist() == ["ab", "c"]
