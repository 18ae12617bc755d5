# SPDX-License-Identifier: Apache-2.0
"""Update rules in Python: the same bits as d5's own rules, groups, masters, checkpoints, graphs."""

import re
from typing import Any

import numpy as np
import pytest

import d5


@d5.register("tests-momentum")
class Momentum(d5.UpdateRule):
    """Momentum, as a rule."""

    slots = ("velocity",)
    numbers = ("steps",)

    def __init__(self, learning_rate: float = 0.5, momentum: float = 0.5):
        self.learning_rate, self.momentum = learning_rate, momentum

    def begin_step(self, step, numbers):
        assert numbers["steps"] == step - 1
        numbers["steps"] = step

    def update(self, gradient, value, velocity):
        velocity *= np.float32(self.momentum)
        velocity += gradient
        value -= np.float32(self.learning_rate) * velocity


def network(dtype="float32"):
    """loss = sum(w) + 2 sum(b): gradients 1 and 2."""
    made = d5.Network("two")
    made.add_parameter("w", d5.Tensor(np.zeros(2, np.float32)) if dtype == "float32" else zeros(dtype))
    made.add_parameter("b", d5.Tensor(np.zeros(2, np.float32)) if dtype == "float32" else zeros(dtype))
    made.add_node("Add", ["w", "b"], ["one"])
    made.add_node("Add", ["one", "b"], ["all"])
    made.add_node("ReduceSum", ["all"], ["loss"], keepdims=0)
    made.add_output("loss")
    return made


def zeros(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    return np.zeros(2, getattr(ml_dtypes, dtype))


def after(optimizer, steps):
    for _ in range(steps):
        optimizer.step({})
    return {p.name: p.value.numpy().astype(np.float32)[0].item() for p in optimizer.network.parameters}


def test_a_rule_steps_as_d5s_own():
    mine = d5.optimizer("tests-momentum", d5.executor(network()))
    own = d5.optimizer("momentum", d5.executor(network()), learning_rate=0.5, momentum=0.5)
    assert after(mine, 3) == after(own, 3)


def test_groups_have_options_of_their_own():
    optimizer = d5.optimizer("tests-momentum", d5.executor(network()), groups=[{"name": "b", "learning_rate": 0.25}])
    assert after(optimizer, 1) == {"w": -0.5, "b": -0.5}
    optimizer.set_hyper_parameter("learning_rate", 0)
    assert after(optimizer, 1) == {"w": -0.5, "b": -0.5}


def test_a_parameter_of_16_bits_has_a_master():
    """Steps that bfloat16 alone would lose: from 256 on it counts in twos."""
    mine, own = (
        d5.optimizer(name, d5.executor(network("bfloat16")), learning_rate=0.5, momentum=0.0)
        for name in ("tests-momentum", "momentum")
    )
    for optimizer in (mine, own):
        for parameter in optimizer.network.parameters:
            parameter.value = np.full(2, 256, parameter.value.numpy().dtype)
    assert after(mine, 8) == after(own, 8) == {"w": 252.0, "b": 248.0}


def test_its_state_is_in_checkpoints():
    first = d5.optimizer("tests-momentum", d5.executor(network()))
    after(first, 2)
    state = first.state()
    assert state["velocity/w"].numpy().tolist() == [1.5, 1.5]
    second = d5.optimizer("tests-momentum", d5.executor(network()))
    for mine, theirs in zip(second.network.parameters, first.network.parameters):
        mine.value = theirs.value
    second.restore(state)
    assert after(first, 2) == after(second, 2)


@d5.register("tests-plain")
class Plain(d5.UpdateRule):
    """The options of Momentum, another formula."""

    def __init__(self, learning_rate: float = 0.5, momentum: float = 0.5):
        self.learning_rate = learning_rate

    def update(self, gradient, value):
        value -= np.float32(self.learning_rate) * gradient.numpy()


@pytest.mark.parametrize("name", ["tests-momentum", "tests-plain"])
def test_a_step_of_it_is_a_graph(name, tmp_path):
    optimizer = d5.optimizer(name, d5.executor(network()))
    d5.StepGraph(optimizer).save(tmp_path / "step.onnx")
    step = d5.StepGraph.load(tmp_path / "step.onnx")
    for _ in range(3):
        step.step({})
    values = {p: step.network.fetch(p).numpy()[0].item() for p in ("w", "b")}
    assert values == after(optimizer, 3)


def test_a_rule_without_update_is_told():
    d5.register("tests-no-update")(type("Lacks", (d5.UpdateRule,), {}))
    with pytest.raises(d5.TypeError, match="Lacks has no method update"):
        d5.optimizer("tests-no-update", d5.executor(network()))


class Nameless(d5.UpdateRule):
    """Registered nowhere."""

    slots = ("velocity",)

    def __init__(self, learning_rate: float = 0.5, momentum: float = 0.5):
        self.learning_rate, self.momentum = learning_rate, momentum

    def update(self, gradient, value, velocity):
        velocity *= np.float32(self.momentum)
        velocity += gradient
        value -= np.float32(self.learning_rate) * velocity


class Fixed(d5.UpdateRule):
    """Its rate is no option with a default."""

    def __init__(self, rates):
        self.rates = rates

    def update(self, gradient, value):
        value -= np.float32(self.rates[0]) * gradient


def test_a_rule_without_a_name_steps_as_the_registered_one():
    def named():
        return d5.optimizer("tests-momentum", d5.executor(network()), learning_rate=0.25, momentum=0.75)

    cases: list[tuple[Any, dict[str, Any]]] = [
        (Nameless, {"learning_rate": 0.25, "momentum": 0.75}),
        (Nameless(0.25, momentum=0.75), {}),
        (Nameless(0.25), {"momentum": 0.75}),
    ]
    for rule, options in cases:
        mine = d5.optimizer(rule, d5.executor(network()), **options)
        assert mine.hyper_parameters["learning_rate"] == 0.25
        assert after(mine, 3) == after(named(), 3)
    assert after(d5.optimizer(Fixed([0.5]), d5.executor(network())), 2) == {"w": -1.0, "b": -2.0}
    assert "Nameless" not in d5.optimizers()


def test_a_rule_without_a_name_has_groups_schedules_and_state():
    rule = Nameless(1.0, momentum=0.0)
    mine = d5.optimizer(rule, d5.executor(network()), groups=[{"name": "b", "learning_rate": 0.5}])
    assert after(mine, 1) == {"w": -1.0, "b": -1.0} and (rule.learning_rate, rule.momentum) == (1.0, 0.0)
    assert any("velocity" in name for name in mine.state())
    half = d5.optimizer(Nameless, d5.executor(network()), schedules={"learning_rate": {"name": "constant"}}, momentum=0.0)
    assert after(half, 1) == {"w": -0.5, "b": -1.0}


def test_what_a_rule_does_not_take_is_refused():
    executor = d5.executor(network())
    with pytest.raises(d5.UnknownOption, match="optimizer Nameless: option 'momentun' is unknown; did you mean momentum"):
        d5.optimizer(Nameless(), executor, momentun=0.5)
    with pytest.raises(d5.TypeError, match="update rule Fixed: its parameter 'rates' has no default"):
        d5.optimizer(Fixed, executor)


class Rebinding(d5.UpdateRule):
    slots = ("velocity",)

    def update(self, gradient, value, velocity):
        value = value - gradient
        velocity[...] = gradient


class RebindingSlot(d5.UpdateRule):
    slots = ("velocity",)

    def update(self, gradient, value, velocity):
        velocity = 0.5 * velocity + gradient
        value -= velocity


class RebindingUnpacked(d5.UpdateRule):
    slots = ("velocity",)

    def update(self, gradient, value, *slots):
        (velocity,) = slots
        velocity = 0.5 * velocity + gradient
        value -= velocity


class RebindingAll(d5.UpdateRule):
    slots = ("velocity", "other")

    def update(self, gradient, value, *slots):
        slots = tuple(0.5 * one + gradient for one in slots)
        value -= slots[0]


class RebindingInList(d5.UpdateRule):
    slots = ("velocity",)

    def update(self, gradient, value, *slots):
        state = list(slots)
        state[0] = 0.5 * state[0] + gradient
        value -= state[0]


class RebindingInLoop(d5.UpdateRule):
    slots = ("velocity", "other")

    def update(self, gradient, value, *slots):
        for one in slots:
            one = 0.5 * one + gradient
        value -= one


REBINDING = [
    (Rebinding, "value"),
    (RebindingSlot, "velocity"),
    (RebindingUnpacked, "velocity"),
    (RebindingAll, "slots[0]"),
    (RebindingInList, "state[0]"),
    (RebindingInLoop, "one"),
]


@pytest.mark.parametrize("rule, name", REBINDING, ids=[rule.__name__ for rule, _ in REBINDING])
def test_a_rule_that_binds_a_name_to_a_new_array_is_refused(rule, name):
    optimizer = d5.optimizer(rule, d5.executor(network()))
    word = re.escape(name)
    with pytest.raises(d5.TypeError, match=rf"{rule.__name__}\.update\(\) binds '{word}' to a new array.*{word}\[\.\.\.\] = "):
        optimizer.step({})


def test_slots_may_be_unpacked_and_written_in_place():
    class Unpacked(d5.UpdateRule):
        slots = ("velocity", "steps")

        def update(self, gradient, value, *slots):
            velocity, steps = slots
            for one in slots:
                one += gradient
            velocity -= 0.5 * gradient.numpy()
            whole = np.asarray(velocity)
            whole = whole + steps  # a name of its own
            value -= whole

    optimizer = d5.optimizer(Unpacked, d5.executor(network()))
    optimizer.step({})
    # gradients 1 and 2: velocity is half of one, steps is one, the value minus both
    assert optimizer.state()["velocity/w"].numpy().tolist() == [0.5, 0.5]
    assert optimizer.network.parameters["b"].value.numpy().tolist() == [-3, -3]


def test_a_rule_may_bind_a_name_to_the_same_memory():
    class Views(d5.UpdateRule):
        slots = ("velocity",)

        def update(self, gradient, value, velocity):
            gradient = 2 * gradient.numpy()
            value, velocity = value.numpy(), np.asarray(velocity)
            velocity += gradient
            value -= 0 * velocity  # as with a learning rate of 0: nothing changes

    optimizer = d5.optimizer(Views, d5.executor(network()))
    optimizer.step({})
    assert optimizer.network.parameters["w"].value.numpy().tolist() == [0, 0]
    assert optimizer.state()["velocity/w"].numpy().tolist() == [2, 2]


class KeptElsewhere(d5.UpdateRule):
    def __init__(self, learning_rate: float = 0.1):
        self.rate = learning_rate

    def update(self, gradient, value):
        value -= self.rate * np.asarray(gradient)


def small_executor():
    return d5.executor(d5.model("lenet", with_loss=True, seed=1))


@pytest.mark.parametrize("schedule", ["constant", {"name": "step", "size": 1}, d5.schedule("constant")], ids=["name", "dict", "object"])
@pytest.mark.parametrize("registered", [False, True])
def test_a_schedule_of_an_option_that_a_rule_keeps_elsewhere_is_refused(schedule, registered):
    rule: Any = KeptElsewhere
    if registered:
        d5.register("kept-elsewhere")(KeptElsewhere)
        rule = "kept-elsewhere"
    with pytest.raises(d5.ValueError, match="__init__ takes learning_rate, and keeps no attribute of this name.*write self.learning_rate = "):
        d5.optimizer(rule, small_executor(), schedules={"learning_rate": schedule})


def test_a_hyper_parameter_that_a_rule_keeps_elsewhere_is_refused_when_it_changes():
    optimizer = d5.optimizer(KeptElsewhere, small_executor(), groups=[{"name": "*.bias", "learning_rate": 0.5}])
    batch = {"image": np.zeros((2, 1, 28, 28), np.float32), "label": np.zeros(2, np.int64)}
    optimizer.step(batch)  # groups are values of __init__
    optimizer.set_hyper_parameter("learning_rate", 0.2)
    with pytest.raises(d5.ValueError, match="keeps no attribute of this name"):
        optimizer.step(batch)


def test_a_schedule_is_a_name_too():
    assert d5.optimizer("adam", small_executor(), schedules={"learning_rate": "linear"})
    with pytest.raises(d5.ValueError, match="schedule cosine: give its length"):
        d5.optimizer("adam", small_executor(), schedules={"learning_rate": "cosine"})
    with pytest.raises(d5.NotFound, match="schedule 'cosin' is unknown; did you mean cosine"):
        d5.optimizer("adam", small_executor(), schedules={"learning_rate": "cosin"})
