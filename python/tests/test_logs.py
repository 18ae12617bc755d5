# SPDX-License-Identifier: Apache-2.0
"""Logs of other tools: what is written, by writers of one's own and by the packages where they are."""

import math
import struct
import sys

import pytest

import d5

class Writer:
    def __init__(self):
        self.scalars, self.flushed = [], 0

    def add_scalar(self, name, value, step):
        self.scalars.append((name, step, value))

    def flush(self):
        self.flushed += 1


class Run:
    def __init__(self):
        self.logged = []

    def log(self, values, step):
        self.logged.append((step, values))


def trained(*events):
    """Two epochs of three batches, each with a test run."""
    data = d5.subset(d5.dataset("mnist").train, range(24))
    batches, tests = d5.sampler("ordered", data, batch_size=8), d5.sampler("ordered", data, batch_size=24)
    optimizer = d5.optimizer("sgd", d5.executor(d5.model("lenet", with_loss=True)))
    trainer = d5.Trainer(optimizer, batches, tests, epochs=2)
    for event in events:
        trainer.add_event(event)
    trainer.run()


def test_a_recipe_is_logged_as_well():
    writer, accuracy = Writer(), d5.training_metric("test_accuracy")
    few = {"training.epochs": 1, "training.most_batches": 2}
    d5.train("mnist-lenet-quick", overrides=few, events=[accuracy, d5.logs.TensorBoard(writer, accuracy)])
    assert writer.scalars == [("test_accuracy", 2, accuracy.value)]


def test_the_loss_of_each_batch_is_written_with_its_step():
    writer, run, loss = Writer(), Run(), d5.training_metric("loss")
    trained(loss, d5.logs.TensorBoard(writer), d5.logs.WeightsAndBiases(run))
    assert [step for _, step, _ in writer.scalars] == [1, 2, 3, 4, 5, 6] and writer.flushed == 1
    assert {name for name, _, _ in writer.scalars} == {"loss"}
    assert [value for _, _, value in writer.scalars] == pytest.approx(loss.samples)
    assert run.logged == [(step, {name: value}) for name, step, value in writer.scalars]


def test_metrics_are_written_when_they_have_a_sample():
    writer, run = Writer(), Run()
    loss, accuracy = d5.training_metric("loss"), d5.training_metric("test_accuracy")
    trained(loss, accuracy, d5.logs.TensorBoard(writer, accuracy), d5.logs.WeightsAndBiases(run, loss, accuracy))
    assert writer.scalars == [("test_accuracy", step, value) for step, value in zip((3, 6), accuracy.samples)]
    assert [step for step, values in run.logged if "test_accuracy" in values] == [3, 6]
    assert [values["loss"] for _, values in run.logged if "loss" in values] == loss.samples


@pytest.mark.parametrize(
    "log, absent",
    [(d5.logs.TensorBoard, ("tensorboardX", "torch.utils.tensorboard")), (d5.logs.WeightsAndBiases, ("wandb",))],
)
def test_a_package_that_is_not_here_is_named(log, absent, monkeypatch):
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(d5.Unsupported, match=f"pip install {absent[0]}"):
        log("folder")


@pytest.mark.parametrize("log", [d5.logs.TensorBoard, d5.logs.WeightsAndBiases])
def test_a_target_of_another_kind_is_refused(log):
    with pytest.raises(d5.TypeError, match=f"d5.logs.{log.__name__}: target is 3; expected a "):
        log(3)


def records(file):
    """Contents of an event file: each stands behind its length and a checksum, and before another."""
    data = file.read_bytes()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        yield data[12 : 12 + length]
        data = data[16 + length :]


def test_an_event_file_holds_the_loss(tmp_path):
    pytest.importorskip("tensorboardX")
    loss = d5.training_metric("loss")
    trained(loss, d5.logs.TensorBoard(tmp_path / "run"))
    [file] = (tmp_path / "run").iterdir()
    written = [record for record in records(file) if b"loss" in record]
    assert len(written) == len(loss.samples) == 6
    for record, value in zip(written, loss.samples):
        assert struct.pack("<f", value) in record and math.isfinite(value)


def test_a_run_offline_is_written_by_wandb(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    trained(d5.logs.WeightsAndBiases("tests"))
    [file] = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert b"loss" in file.read_bytes()


@pytest.mark.parametrize("log", [lambda loss: d5.logs.TensorBoard(Writer(), loss), lambda loss: d5.logs.WeightsAndBiases(Run(), loss), d5.LiveCurves])
def test_a_metric_that_comes_after_its_log_or_never_is_refused_before_training(log):
    loss = d5.training_metric("loss")
    with pytest.raises(d5.ValueError, match="the metric loss comes after it in the events of the trainer; add_event"):
        trained(log(loss), loss)
    with pytest.raises(d5.ValueError, match="the metric loss is no event of the trainer; add_event"):
        trained(d5.training_metric("loss"), log(loss))
    assert loss.samples == []


def test_a_metric_of_ones_own_is_logged():
    class Steps(d5.Metric):
        def after_batch(self, trainer, batch, outputs):
            self.samples.append(trainer.step)

    for make in (lambda steps: steps, d5.training_metric):  # as it is, and as d5's
        writer, steps = Writer(), make(Steps())
        trained(steps, d5.logs.TensorBoard(writer, steps))
        assert [(step, value) for _, step, value in writer.scalars] == [(step, step) for step in range(1, 7)]


@pytest.mark.parametrize("make", [lambda one: d5.logs.TensorBoard(Writer(), one), lambda one: d5.logs.WeightsAndBiases(Run(), one), d5.LiveCurves])
def test_another_object_than_a_metric_is_refused(make):
    with pytest.raises(d5.TypeError, match=r"^d5\..*: a metric is 'loss'; expected one of d5.training_metric\(name\)"):
        make("loss")


@pytest.mark.parametrize("every", ["1", -1, float("nan"), None])
def test_live_curves_are_shown_every_few_seconds(every):
    with pytest.raises(d5.TypeError, match="^d5.LiveCurves: every is .*, expected seconds, of 0 or more"):
        d5.LiveCurves(every=every)
