# SPDX-License-Identifier: Apache-2.0
"""Metrics in Python: their hooks of an executor, their names, their rows, and gradient_norm beside a reader."""

import numpy as np
import pytest

import d5


def trainer_of(*events, batches=2, **options):
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    data = d5.subset(d5.dataset("mnist", subset="sample").train, list(range(10 * batches)))
    optimizer = d5.optimizer("sgd", executor)
    trainer = d5.Trainer(optimizer, d5.sampler("ordered", data, batch_size=10), **options)
    for event in events:
        trainer.add_event(event)
    return trainer


HOOKS = ("before_run", "before_pass", "before_node", "after_node", "gradient_ready")


@pytest.mark.parametrize("hook", HOOKS)
def test_a_metric_hears_an_executor_as_an_event_does(hook):
    def counting(base):
        calls = []
        made = type("Counting", (base,), {hook: lambda self, *told: calls.append(1)})
        trainer_of(made()).run()
        return len(calls)

    assert counting(d5.Metric) == counting(d5.Event) > 0


def test_samples_that_an_executor_s_hook_takes_are_the_metric_s():
    class Ready(d5.Metric):
        def gradient_ready(self, parameter, index):
            self.samples.append(float(index))

    rows, _ = d5.train("mnist-lenet-quick", overrides={"training.most_batches": 2, "training.epochs": 1}, metrics=[Ready])
    (row,) = rows.where(metric="ready")
    parameters = len(d5.model("lenet").parameters)
    assert len(row.samples) == 2 * parameters and set(row.samples) == set(range(parameters))


@pytest.mark.parametrize("metric_first", [True, False])
def test_a_reader_and_gradient_norm_do_not_replace_each_other(metric_first):
    seen = []
    trainer = trainer_of()
    if metric_first:
        trainer.add_event(d5.training_metric("gradient_norm"))
    trainer.optimizer.read_gradients(lambda name, gradient, factor: seen.append(name))
    if not metric_first:
        trainer.add_event(d5.training_metric("gradient_norm"))
    with pytest.raises(d5.ValueError, match="gradient_norm would replace.*read_gradients\\(None\\)"):
        trainer.run()
    trainer.optimizer.read_gradients(None)
    trainer.run()
    assert trainer.step == 2 and not seen


def test_a_metric_without_a_name_has_its_class_s():
    class LargestScore(d5.Metric):
        pass

    class Named(d5.Metric):
        name = "mine"

    class Heir(Named):
        pass

    class Other(LargestScore):
        pass

    assert [d5.training_metric(made()).name for made in (LargestScore, Named, Heir, Other)] == [
        "largest_score",
        "mine",
        "mine",
        "other",
    ]


def test_the_row_of_a_metric_may_be_made_after_the_run():
    class Spread(d5.Metric):
        def after_batch(self, trainer, batch, outputs):
            self.samples.append(float(outputs["logits"].numpy().std()))

    metric = Spread()
    trainer_of(metric).run()
    record = d5.training_metric(metric).record("mine")
    assert record.status == "passed" and list(record.samples) == metric.samples and len(metric.samples) == 2
    np.testing.assert_equal(record.value, metric.samples[-1])


def test_samples_that_are_not_numbers_are_no_pass():
    class Lost(d5.Metric):
        def after_batch(self, trainer, batch, outputs):
            self.samples.append(float("nan") if batch.index == 0 else 1.0)

    metric = Lost()
    trainer_of(metric).run()
    record = d5.training_metric(metric).record("mine")
    assert record.status == "mistrusted" and record.reason == "1 of 2 samples are NaN or infinite"
