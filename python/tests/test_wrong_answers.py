# SPDX-License-Identifier: Apache-2.0
"""What a callback returns that is not what it was asked for: an error that names it."""

from typing import Any, cast

import numpy as np
import pytest

import d5

FEED = {"x": np.ones(3, np.float32)}


def run_operator(name, forward, infer=None):
    methods = {"forward": forward} if infer is None else {"forward": forward, "infer": infer}
    d5.operator(name, domain="bad_callbacks")(type(name, (d5.Operator,), methods))
    network = d5.Network("one")
    network.add_input("x", "float32", [3])
    network.add_node(name, ["x"], ["y"], domain="bad_callbacks")
    network.add_output("y")
    return d5.executor(network).inference(FEED)


@pytest.mark.parametrize("what", ["input", "output"])
def test_a_place_that_there_is_not_is_refused(what):
    with pytest.raises(d5.ValueError, match=f"there is no {what} 5: the node has 1 {what}"):
        run_operator(f"Beyond{what}", lambda self, context: getattr(context, what)(5))
    with pytest.raises(d5.ValueError, match="there is no input 1"):
        run_operator("BeyondShape", lambda self, context: None, lambda self, context: [("float32", context.shape(1))])


def test_an_input_that_is_left_out_is_refused():
    class Optional(d5.Operator):
        def infer(self, context):
            return [("float32", [3])]

        def forward(self, context):
            assert not context.has_input(0) and context.has_input(1) and context.wants_output(0)
            context.input(0)

    d5.operator("Optional", domain="bad_callbacks")(Optional)
    network = d5.Network("optional")
    network.add_input("x", "float32", [3])
    network.add_node("Optional", ["", "x"], ["y"], domain="bad_callbacks")
    network.add_output("y")
    with pytest.raises(d5.ValueError, match=r"there is no input 0 in this call; has_input\(0\) is false"):
        d5.executor(network).inference(FEED)


@pytest.mark.parametrize(
    "inferred, error, text",
    [
        (None, d5.TypeError, r"Inferred.infer\(\) gave None, expected a list of \(type, shape\)"),
        ([("float32", "three")], d5.TypeError, r"Inferred.infer\(\) gave .*three"),
        ([("float32", [3])] * 2, d5.ShapeError, "gave 2 outputs; the node has 1"),
        ([], d5.ShapeError, "gave 0 outputs"),
    ],
    ids=["none", "shape", "more", "fewer"],
)
def test_an_inference_of_something_else_is_refused(inferred, error, text):
    with pytest.raises(error, match=text):
        run_operator("Inferred", lambda self, context: None, lambda self, context: inferred)


@pytest.mark.parametrize("said", [None, "fast", [1]], ids=["none", "text", "list"])
def test_a_schedule_that_says_no_number_is_refused(said):
    class Odd(d5.Schedule):
        def at(self, time, initial):
            return said

    executor = d5.executor(d5.model("lenet", with_loss=True))
    optimizer = d5.optimizer("sgd", executor, schedules={"learning_rate": Odd()})
    batch = {"image": np.zeros((1, 1, 28, 28), np.float32), "label": np.zeros(1, np.int64)}
    with pytest.raises(d5.TypeError, match=r"schedule Odd: at\(\) gave .*, expected a number"):
        optimizer.step(batch)


class Given(d5.Dataset):
    """Says what it is given."""

    def __init__(self, length=2, fields=None, sample=None):
        super().__init__()
        self.length, self.told, self.given = length, fields or {"x": ("float32", [2])}, sample

    def __len__(self):
        return self.length

    def fields(self):
        return self.told

    def read(self, index, seed, epoch):
        return self.given


@pytest.mark.parametrize(
    "wrong, text",
    [
        ({"sample": None}, r"data set Given: read\(\) gave None, expected a dict of arrays"),
        ({"sample": [1, 2]}, r"read\(\) gave \[1, 2\]"),
        ({"fields": ["x"]}, r"fields\(\) gave \['x'\], expected a dict"),
        ({"fields": {"x": "float32"}}, r"field 'x' gave 'float32', expected \(type, shape\)"),
        ({"fields": {3: ("float32", [2])}}, "the name of a field gave 3"),
    ],
    ids=["none", "list", "fields", "field", "name"],
)
def test_a_data_set_that_says_something_else_is_refused(wrong, text):
    with pytest.raises(d5.TypeError, match=text):
        d5.sampler("ordered", Given(**wrong), batch_size=1).next()


def text_of_step(**methods):
    """What a run says of a d5.SampleStep with these methods."""
    d5.register("tests-wrong-step")(type("Wrong", (d5.SampleStep,), methods))
    data = d5.tensor_dataset({"x": np.zeros((2, 2), np.float32)})
    d5.transformed(data, ["tests-wrong-step"], field="x")[0]


def registered(base, **methods):
    d5.register("tests-wrong-part")(type("Wrong", (base,), methods))
    return "tests-wrong-part"


def returning(answer):
    return lambda *arguments: answer


def lenet(**how):
    executor = d5.executor(d5.model("lenet", with_loss=True))
    return d5.optimizer(how.pop("rule", "sgd"), executor, **how)


BATCH = {"image": np.zeros((1, 1, 28, 28), np.float32), "label": np.zeros(1, np.int64)}


def train(optimizer, **how):
    data = d5.sampler("ordered", d5.subset(d5.dataset("mnist").test, [0]), batch_size=1)
    metric = how.pop("metric", None)
    trainer = d5.Trainer(optimizer, data, most_batches=1, **how)
    if metric is not None:
        trainer.add_event(metric)
    trainer.run()


def of_modifier(**methods):
    return type("Wrong", (d5.StepModifier,), methods)()


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda folder: text_of_step(describe=returning(None)), r"Wrong.describe\(\) gave None, expected \(type, shape\)"),
        (
            lambda folder: d5.partition(d5.model("lenet"), 2, registered(d5.Partition, cut=returning(None))),
            r"Wrong.cut\(\) gave None, expected a list of d5.NetworkPart",
        ),
        (
            lambda folder: d5.try_schedule(registered(d5.PipelineSchedule, tasks=returning("forward")), 2, 4),
            r"Wrong.tasks\(\) gave 'forward', expected a list",
        ),
        (
            lambda folder: lenet(modifiers=[of_modifier(gradients_final=returning("yes"))]).step(BATCH),
            r"python.gradients_final\(\) gave 'yes', expected whether",
        ),
        (
            lambda folder: train(lenet(modifiers=[of_modifier(state=returning(None), restore=returning(None))]), checkpoint=folder / "c"),
            r"Wrong.state\(\) gave None, expected a dict of arrays",
        ),
        (lambda folder: d5.executor(d5.model("lenet")).inference({cast(Any, 3): BATCH["image"]}), "gave 3, expected a text"),
        (
            lambda folder: train(lenet(), metric=d5.training_metric(registered(d5.Metric, after_batch=lambda self, *told: self.samples.append("1.5")))),
            "Wrong.samples gave '1.5', expected numbers",
        ),
        (
            lambda folder: lenet(rule=registered(d5.UpdateRule, slots="velocity", update=returning(None))),
            "Wrong: slots gave 'velocity', expected a tuple of names",
        ),
        (
            lambda folder: d5.run_simulated(2, d5.cluster_description("ethernet-10g"), returning(None), model="closed"),
            r"d5.run_simulated: work\(0, 2\) gave None, expected a list",
        ),
        (lambda folder: d5.run_work({"mine": returning(None)}), "the work 'mine' gave None, expected a list of measurements"),
        (lambda folder: d5.repeat_trainings({"mine": returning(1.5)}, runs=1), "the training 'mine' gave 1.5, expected its rows"),
    ],
    ids=["step", "partition", "schedule", "modifier", "state", "name", "metric", "rule", "work", "rows", "training"],
)
def test_another_answer_is_told_with_who_gave_it(call, text, tmp_path):
    with pytest.raises(d5.TypeError, match=text):
        call(tmp_path)


NONE: Any = None
NONES = {
    "sampler": lambda: d5.sampler("ordered", NONE, batch_size=1),  # as .test of a data set that has none
    "split": lambda: d5.split(NONE, 0.5),
    "subset": lambda: d5.subset(NONE, [0]),
    "transformed": lambda: d5.transformed(NONE, []),
    "cut": lambda: d5.cut_sampler("shards", NONE, 0, 1, batch_size=1),
    "optimizer": lambda: d5.optimizer("sgd", NONE),
    "trainer": lambda: d5.Trainer(lenet(), NONE),
    "scheme": lambda: d5.distributed_optimizer("consistent_decentralized", NONE),
    "window": lambda: d5.MemoryWindow(NONE, 8),
    "timeout": lambda: d5.with_timeout(NONE, 1),
    "order": lambda: d5.with_call_order(NONE),
    "world": lambda: d5.set_world(NONE),
    "records": lambda: d5.gather_records([], NONE),
    "reduce": lambda: d5.AllReduce("ring").start(NONE, d5.Tensor(np.zeros(1, np.float32))),
    "event": lambda: d5.executor(d5.model("lenet")).add_event(NONE),
}


@pytest.mark.parametrize("name", NONES)
def test_none_in_place_of_an_object_is_refused(name):
    with pytest.raises(TypeError, match="None"):
        NONES[name]()
