# SPDX-License-Identifier: Apache-2.0
"""What a person at a prompt sees and does."""

import base64
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

import numpy as np
import pytest
from rank_jobs import alone

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
        d5.world(): f"<d5.Communicator rank {d5.world().rank} of {d5.world().size}>",
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
    make = type("Versions", (d5.Operator,), {"forward": lambda self, context: None})
    d5.operator("Versions", domain="org.example.notebook")(make)
    for _ in range(2):
        with pytest.raises(d5.ValueError, match="Versions"):
            d5.operator("Versions", domain="org.example.notebook", since=2)(make)


@alone("the parts of a checkpoint stand in one folder, and each has its own")
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
    rows, _ = d5.train(recipe, overrides=few, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").exists() and rows
    d5.train(d5.recipe(recipe), overrides=few, resume=tmp_path / "run")


def test_a_data_set_counts_and_ends_as_python_s_lists_do():
    test = d5.dataset("mnist").test
    assert (test[-1]["image"].numpy() == test[len(test) - 1]["image"].numpy()).all()
    for place in (len(test), -len(test) - 1):
        with pytest.raises(IndexError):
            test[place]
    assert sum(1 for _ in test) == len(test)  # type: ignore[attr-defined,misc]


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


def pictures(html):
    """The SVGs that it shows."""
    parts = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', html)
    return [base64.b64decode(part).decode() for part in parts]


def chain(nodes):
    network = d5.Network("<chain>")
    network.add_input("t0", "float32", [2])
    for i in range(nodes):
        network.add_node("Relu", [f"t{i}"], [f"t{i + 1}"])
    network.add_output(f"t{nodes}")
    return network


def test_a_network_shows_as_a_picture_and_folds_above_200_nodes():
    html = chain(200)._repr_html_()
    assert html.startswith("<details open>") and "&lt;chain&gt;: 200 nodes" in html and "<chain>" not in html
    (svg,) = pictures(html)
    texts = [text.text for text in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("Relu") == 200
    folded = chain(201)._repr_html_()
    assert "<details open>" not in folded and len(pictures(folded)) == 1
    assert "<td>Relu</td><td>201</td>" in folded
    large = chain(2001)._repr_html_()
    assert not pictures(large) and "<td>Relu</td><td>2001</td>" in large
    assert d5.model("lenet").dot().startswith("digraph")


def test_recipes_and_environments_show_as_tables():
    recipe = d5.recipe("mnist-lenet-quick").changed("training.epochs=7")
    html = recipe._repr_html_()  # type: ignore[attr-defined]
    xml.etree.ElementTree.fromstring(f"<div>{html}</div>")
    assert "<td>training.epochs</td><td>7</td><td>changed</td>" in html
    assert f"<code>{recipe.command}</code>" in html
    here = d5.environment()
    assert here["hardware_threads"] == os.cpu_count() and here["d5_version"].startswith(d5.__version__)
    assert here["hostname"] in str(here) and here["hostname"] in here._repr_html_()
    xml.etree.ElementTree.fromstring(f"<div>{here._repr_html_()}</div>".replace("<details open>", "<details>"))


def few_batches(*events):
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    mnist = d5.dataset("mnist")
    train = d5.sampler("ordered", d5.subset(mnist.train, list(range(64))), batch_size=8)
    test = d5.sampler("ordered", d5.subset(mnist.test, list(range(10))), batch_size=10)
    trainer = d5.Trainer(d5.optimizer("sgd", executor), train, test, epochs=2)
    for event in events:
        trainer.add_event(event)
    trainer.run()


def test_curves_follow_training_and_show_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, thing):
            shown.append(thing._repr_html_())

    monkeypatch.setattr("d5._live_curves._display", lambda thing: Handle())
    loss, accuracy = d5.training_metric("loss"), d5.training_metric("test_accuracy")
    live, plain = d5.LiveCurves(loss, accuracy, every=0), d5.LiveCurves(every=1000)
    few_batches(loss, accuracy, live, plain)
    assert [value for _, value in live.curves["loss"]] == loss.samples
    steps, values = zip(*live.curves["test_accuracy"])
    assert list(values) == accuracy.samples and steps == (8, 16)  # after each epoch
    (name,) = plain.curves
    np.testing.assert_allclose([value for _, value in plain.curves[name]], loss.samples, rtol=1e-6)
    assert len(shown) == 16 + 1 + 1 + 1  # a batch each, its end, and the first and the end of the other
    assert "epoch 2 of 2, step 16, loss " in shown[-2]
    assert len(pictures(shown[-2])) == 2 and len(pictures(shown[-1])) == 1


def test_curves_of_many_batches_are_drawn_by_their_means():
    live = d5.LiveCurves()
    live.curves["loss"] = [(float(i), float(i % 2)) for i in range(4000)]
    (plot,) = live.plots()
    (line,) = plot.marks
    assert line.shape == "line" and len(line.points) == 400 and {y for _, y in line.points} == {0.5}
    (dot,) = d5.Plot({"accuracy": [(8, 0.5)]}).marks
    assert dot.shape == "dots" and dot.points == [(8, 0.5)]


def test_plots_are_d5_s_where_matplotlib_is_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    rows = d5.measure({"a": lambda: None, "b": lambda: None}, samples=10)
    names = [plot.name for plot in d5.plots(rows)]
    assert rows.plot().name == names[0] and rows.plot(names[-1]).svg().startswith("<svg")
    with pytest.raises(d5.NotFound, match=f"no plot is named 'nothing'; there are {names[0]}"):
        rows.plot("nothing")
    with pytest.raises(d5.ValueError, match="no numbers"):
        d5.Measurements().plot()


def test_plots_are_drawn_by_matplotlib_where_it_is():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("agg")
    plot = d5.Plot({"a": [(1, 10), (2, 100)], "b": [(1, 1), (2, 2)]}, x=("epoch", "", "whole"), y=("time", "s", "logarithmic"))
    axes = d5.draw(plot)
    assert [list(line.get_xydata().ravel()) for line in axes.lines] == [[1, 10, 2, 100], [1, 1, 2, 2]]
    assert axes.get_xlabel() == "epoch" and axes.get_ylabel() == "time" and axes.get_yscale() == "log"
    assert axes.yaxis.get_major_formatter()(0.001) == "1 ms"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    rows = d5.measure({"a": lambda: None, "b": lambda: None}, samples=10)
    for picture in d5.plots(rows):
        drawn = rows.plot(picture.name)
        assert drawn.get_title() == picture.title
        drawn.figure.canvas.draw()


def test_plots_are_drawn_on_axes_alone():
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    for draw in (lambda: rows.plot(ax="x"), lambda: d5.draw(d5.plots(rows)[0], "x")):
        with pytest.raises(d5.TypeError, match="ax is 'x', expected axes of matplotlib"):
            draw()
