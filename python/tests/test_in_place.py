# SPDX-License-Identifier: Apache-2.0
"""Methods that write in place: what they return, or leave unwritten, is said."""

import numpy as np
import pytest
from rank_jobs import alone, needs_mpirun

import d5

BATCH = {"image": np.zeros((1, 1, 28, 28), np.float32), "label": np.zeros(1, np.int64)}


def operator_of(name, **methods):
    d5.operator(name, domain="tests_in_place")(type(name, (d5.Operator,), methods))
    return f"tests_in_place.{name}"


def twice(self, context):
    context.output(0).numpy()[...] = 2 * context.input(0).numpy()


def test_an_operator_that_returns_its_result_is_refused():
    name = operator_of("Returning", forward=lambda self, context: 2 * context.input(0).numpy())
    with pytest.raises(d5.TypeError, match=r"Returning.forward\(\) returned an object of type ndarray.*writes in place"):
        network = d5.Network("one")
        network.add_input("x", "float32", [3])
        network.add_node("Returning", ["x"], ["y"], domain="tests_in_place")
        network.add_output("y")
        d5.executor(network).inference({"x": np.ones(3, np.float32)})
    assert all("writes in place" in row.reason for row in d5.check_operator(f"{name} 3"))
    back = operator_of("BackReturning", forward=twice, backward=lambda self, context: 2 * context.grad_output(0).numpy())
    [row] = d5.test_gradient(f"{back} 3")
    assert row.status == "failed" and "BackReturning.backward() returned" in row.reason


def test_a_rule_and_an_optimizer_that_return_their_result_are_refused():
    @d5.register("tests-returning-rule")
    class Rule(d5.UpdateRule):
        def update(self, gradient, value):
            return value - gradient

    class Returning(d5.Optimizer):
        def update_rule(self, gradient, parameter, index):
            return parameter.value - gradient

        def state(self):
            return {}

        def restore(self, state): ...

    for rule, who in (("tests-returning-rule", "Rule.update"), (Returning(), "Returning.update_rule")):
        optimizer = d5.optimizer(rule, d5.executor(d5.model("lenet", with_loss=True)))
        with pytest.raises(d5.TypeError, match=rf"{who}\(\) returned .*writes in place"):
            optimizer.step(BATCH)


def half(self, context):
    context.output(0).numpy()[:2] = context.input(0).numpy()[:2]


def nan(self, context):
    context.output(0).numpy()[...] = np.nan


def test_a_forward_that_writes_a_part_or_nan_alone_fails_its_check():
    for name, forward, text in (
        ("Half", half, "does not write 2 of 4 elements of output 0, the first at 2"),
        ("Nothing", lambda self, context: None, "Nothing.forward() wrote nothing to output 0"),
        ("Nan", nan, "output 0 is NaN everywhere"),
    ):
        [row] = d5.test_forward(f"{operator_of(name, forward=forward)} 4")
        assert row.status == "failed" and text in row.reason, row.reason
    [row] = d5.test_forward(f"{operator_of('Whole', forward=twice)} 4")
    assert row.status == "passed"


class Moons(d5.Dataset):
    def __init__(self, **wrong):
        super().__init__()
        self.wrong = wrong

    def __len__(self):
        return 3

    def fields(self):
        return {"x": ("float32", [2]), "label": ("int64", [])}

    def read(self, index, seed, epoch):
        return {"x": np.array([1, 2], np.float32), "label": 1, **self.wrong}


@pytest.mark.parametrize(
    "wrong, error, text",
    [
        ({"label": 1.9}, d5.TypeError, "field 'label' is 1.9, which int64 does not hold"),
        ({"label": float("nan")}, d5.TypeError, "field 'label' is nan"),
        ({"label": np.float32(1)}, d5.TypeError, r"field 'label' is float32.*, expected int64"),
        ({"x": np.zeros(3, np.float32)}, d5.ShapeError, r"field 'x' is float32.*3.*, expected float32.*2"),
        ({"x": np.zeros((1, 2), np.float32)}, d5.ShapeError, "field 'x'"),
        ({"lable": 1}, d5.NotFound, "field 'lable' is unknown; did you mean label"),
    ],
)
def test_a_sample_that_does_not_fit_names_data_set_sample_and_field(wrong, error, text):
    with pytest.raises(error, match=rf"the data set Moons: sample 2: {text}"):
        Moons(**wrong)[2]


def test_a_sample_may_be_of_plain_numbers():
    sample = Moons(label=2.0, x=[1, 2])[0]
    assert sample["label"].item() == 2 and sample["x"].numpy().tolist() == [1, 2]


def drifting():
    @d5.register("tests-drifting")
    class Drifting(d5.DistributedOptimizer):
        def exchange(self, share): ...

    recipe = d5.recipe("mnist-lenet-quick").changed("training.epochs=1", "training.most_batches=3")
    d5.train(recipe.changed("distributed.name=tests-drifting"))


@alone("they start none")
@needs_mpirun
def test_a_scheme_that_says_that_it_is_consistent_and_drifts_is_stopped():
    with pytest.raises(d5.CommunicationError, match="after the first step of the scheme Drifting, whose `consistent`"):
        d5.launch(drifting, ranks=2)
