# SPDX-License-Identifier: Apache-2.0
"""Recipes, sessions, and trainings that are repeated and compared."""

import copy
import pathlib
from typing import Any

import numpy as np
import pytest
from rank_jobs import alone

import d5

SHORT = ["training.epochs=1", "training.most_batches=4"]

one_process = alone("each would do all of it by itself, which is refused")


@pytest.fixture
def short():
    content = {
        "name": "short",
        "summary": "a few batches",
        "fixed": {
            "dataset": {"name": "synthetic", "size": 64, "test_size": 50,
                        "fields": "image float32 1x28x28 normal, label int64 below 10"},
            "model": {"name": "lenet"},
        },
        "mutable": {
            "sampler": {"name": "shuffle", "batch_size": 8},
            "optimizer": {"name": "momentum", "learning_rate": 0.02},
            "training": {"epochs": 1, "most_batches": 4, "seed": 3},
        },
        "acceptable": {"test_accuracy": {"at_least": 0.0}},
        "ranges": {"optimizer.learning_rate": {"least": 0.001, "most": 0.1, "scale": "logarithmic"}},
    }
    return d5.Recipe(content, file="short.yaml")


def test_a_recipe_is_made_of_a_dict_and_changed(short):
    assert short.values["optimizer.learning_rate"] == "0.02"
    assert short.acceptable == {"test_accuracy": ("at_least", 0.0)}
    assert short.ranges == {"optimizer.learning_rate": (0.001, 0.1)}
    other = short.changed("optimizer.name=adam:learning_rate=0.001", "training.seed=7")
    assert other.values["optimizer.name"] == "adam" and short.values["optimizer.name"] == "momentum"
    assert other.changes == ["optimizer.name=adam:learning_rate=0.001", "training.seed=7"]
    assert other.checksum != short.checksum == copy.deepcopy(short).checksum
    assert d5.Recipe(short.text).values == short.values
    assert short.with_seed(9).values["training.seed"] == "9"
    varied = short.vary("training.epochs=1,2")
    assert {name: one.values["training.epochs"] for name, one in varied.items()} == {"1": "1", "2": "2"}
    rates = [float(one.values["optimizer.learning_rate"]) for one in short.trials(3)]
    # radical inverses 1/2, 1/4, 3/4 of a logarithmic range
    np.testing.assert_allclose(rates, [0.001 * 100**x for x in (0.5, 0.25, 0.75)], rtol=1e-6)
    with pytest.raises(d5.NotFound, match=r"short.yaml:\d+: section 'samplr'.*sampler"):
        d5.Recipe(short.text.replace('"sampler"', '"samplr"'), file="short.yaml")
    with pytest.raises(d5.ValueError, match="fixed"):
        short.changed("model.name=resnet")


@one_process
def test_a_session_trains_tells_and_saves(short, tmp_path):
    lines, batches = [], []

    class Batches(d5.Event):
        nodes = 0

        def after_batch(self, trainer, batch, outputs):
            batches.append(trainer.optimizer.steps)
            assert trainer.batch_times["step"] > 0

        def after_node(self, step):
            self.nodes += 1

        def after_checkpoint(self, trainer, path):
            lines.append(path)

    event = Batches()
    checkpoint = tmp_path / "run.d5"
    session = d5.TrainingSession(short, say=lines.append, events=[event], checkpoint=checkpoint,
                                 metrics=["gradient_norm"])
    rows = session.run()
    assert batches == [1, 2, 3, 4] and event.nodes > 4 * 9
    assert {row.metric for row in rows} >= {"test_accuracy", "gradient_norm", "loss"}
    assert lines[0].startswith("short: ") and str(checkpoint) in lines
    session.save(tmp_path / "trained.onnx")
    assert d5.Network.load(tmp_path / "trained.onnx").output_names == ["logits"]
    assert len(session.data.test) == 50 and session.trainer.step == 4
    again, accepted = d5.train(short, init=checkpoint, overrides=["training.most_batches=1"])
    assert accepted
    resumed, _ = d5.train(short, resume=checkpoint, overrides=["training.most_batches=5"])
    losses = {row.metric: row for row in resumed}["loss"].samples
    assert losses[:4] == {row.metric: row for row in rows}["loss"].samples and len(losses) == 5
    with pytest.raises(d5.NotFound, match="loader_threads"):
        d5.train(short, loader_thread=2)
    with pytest.raises(d5.TypeError, match="loader_threads is 'two'"):
        d5.train(short, loader_threads="two")


@alone("the parts of a checkpoint stand in one folder, and each has its own")
def test_what_a_checkpoint_holds(short, tmp_path):
    d5.train(short, checkpoint=tmp_path / "run.d5", checkpoint_every=2, checkpoints_kept=2)
    checkpoint = d5.read_checkpoint(tmp_path / "run.d5")
    assert (checkpoint.epoch, checkpoint.batch, checkpoint.step) == (0, 4, 4)
    parameters = {name for name in checkpoint.tensors if name.startswith("parameter/")}
    assert len(parameters) == 10 and "metric/loss/samples" in checkpoint.tensors
    assert [file.name for file in tmp_path.glob("run.d5.step-*")] == ["run.d5.step-2"]
    other = d5.Checkpoint({"parameter/w": np.arange(3.0)}, recipe="mine", step=7)
    d5.write_checkpoint(other, tmp_path / "other.d5")
    read = d5.read_checkpoint(tmp_path / "other.d5")
    assert read.step == 7 and read.tensors["parameter/w"].numpy().tolist() == [0, 1, 2]
    whole = (tmp_path / "other.d5").read_bytes()
    (tmp_path / "other.d5").write_bytes(whole[:-1] + b"?")
    with pytest.raises(d5.FormatError):
        d5.read_checkpoint(tmp_path / "other.d5")


@one_process
def test_a_recipe_is_repeated_from_several_seeds(short):
    lines = []
    rows = d5.repeat_training(short, runs=3, say=lines.append)
    accuracy = {row.metric: row for row in rows}["test_accuracy"]
    assert len(accuracy.samples) == 3 and accuracy.conditions["seeds"] == "3 to 5"
    assert len(lines) == 3
    one, _ = d5.train(short.with_seed(4))
    assert {row.metric: row for row in one}["test_accuracy"].value == accuracy.samples[1]


def test_trainings_are_repeated_side_by_side_compared_and_drawn(short):
    def trained(*changes):
        return lambda seed: d5.train(short.with_seed(seed).changed(*changes))[0]

    runs = d5.repeat_trainings(
        {"momentum": trained(), "adam": trained("optimizer.name=adam:learning_rate=0.001")},
        runs=2, seed=5)
    assert list(runs) == ["momentum", "adam"] and runs["adam"].seeds == [5, 6]
    rows = d5.compare_trainings(runs["adam"], runs["momentum"], "adam", "momentum")
    assert rows[-1].metric == "trade_off" and "verdict" in rows[-1].conditions
    accuracies = runs["adam"].joined()
    assert [len(row.samples) for row in accuracies if row.metric == "test_accuracy"] == [2]
    for plot in (d5.accuracy_plot(runs), d5.loss_plot(runs)):
        assert not plot.empty and plot.svg().startswith("<svg") and "adam" in plot.svg()
        assert plot._repr_svg_() == plot.svg(640)


def test_a_reference_is_made_of_runs_and_judges_later_ones(short):
    def row(samples):
        made = d5.Measurement()
        made.subject, made.metric, made.unit, made.samples = "short", "samples_to_accuracy", "1", samples
        return made

    reference = d5.Recipe(short.with_reference([row([100.0 + i for i in range(10)])]))
    assert reference.reference == {"samples_to_accuracy": [100.0 + i for i in range(10)]}
    (faster,) = d5.judge_convergence([row([50.0 + i for i in range(5)])], reference)
    assert faster.status == "mistrusted"
    (slower,) = d5.judge_convergence([row([150.0 + i for i in range(5)])], reference)
    assert slower.status == "failed"
    with pytest.raises(d5.ValueError, match="10"):
        short.with_reference([row([100.0])])


@one_process
def test_a_training_is_reproducible_and_held_against_another(short):
    rows = d5.test_training(short)
    assert {row.metric: row for row in rows}["reproducibility"].samples == [0]
    rows = d5.test_training(short, short.changed("optimizer.learning_rate=0.01"), runs=2)
    assert [row.metric for row in rows].count("reproducibility") == 2
    assert "test_accuracy_ratio" in {row.metric for row in rows}


@one_process
def test_what_a_repeated_training_raises_is_raised(short):
    def broken(seed):
        raise KeyError(f"no seed {seed}")

    with pytest.raises(KeyError, match="no seed 2"):
        d5.repeat_trainings({"broken": broken}, seed=2, runs=1)
    with pytest.raises(d5.NotFound, match="runs"):
        d5.repeat_trainings({"broken": broken}, run=1)
    with pytest.raises(d5.IoError):
        d5.repeat_training(pathlib.Path("nowhere.yaml"))


@one_process
def test_variants_are_trained_kept_and_gone_on_with(short, tmp_path):
    out = tmp_path / "runs.json"
    options = {"vary": "optimizer.name=adam:learning_rate=0.001,momentum", "out": out}
    first = d5.train_variants(short, runs=1, **options)
    adam, momentum = first.runs.values()
    assert adam.seeds == momentum.seeds == [3]
    assert any(row.metric == "trade_off" for row in first.records)
    lines = []
    more = d5.train_variants(short, runs=2, resume=True, say=lines.append, **options)
    kept, added = more.runs["momentum"].records
    assert kept[0].samples == momentum.records[0][0].samples
    assert more.runs["momentum"].seeds == [3, 4] and len(lines) == 4
    assert len(d5.read_results(out)) > len(more.records)
    with pytest.raises(d5.ValueError, match="begun with"):
        d5.train_variants(short.changed("training.epochs=2"), runs=2, resume=True, **options)


@one_process
def test_options_of_a_repetition_are_named():
    untyped: Any = d5
    with pytest.raises(d5.TypeError, match="^runs is '3', expected an integer of 0 or more"):
        untyped.repeat_training("mnist-lenet-quick", runs="3")
    with pytest.raises(d5.ValueError, match="^runs is -3, expected 0 or more"):
        d5.repeat_training("mnist-lenet-quick", runs=-3)
    with pytest.raises(d5.ValueError, match="neither vary nor trials is given; d5.repeat_training trains one recipe"):
        d5.train_variants("mnist-lenet-quick")


@one_process
def test_options_of_a_scaling_study_are_those_of_a_training():
    with pytest.raises(d5.ValueError, match="^d5.scale: threads is 0, expected 1 or more"):
        d5.scale("mnist-lenet-quick", threads=0)
    with pytest.raises(d5.UnknownOption, match="option of training 'run' is unknown"):
        d5.scale("mnist-lenet-quick", run=1)
