# SPDX-License-Identifier: Apache-2.0
"""What a callback returns that is not what it was asked for: an error that names it."""

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
