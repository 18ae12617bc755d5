# SPDX-License-Identifier: Apache-2.0
"""Parts written in Python under names of their own, and what they may do."""

import subprocess
import sys
from typing import Annotated

import numpy as np
import pytest
from rank_jobs import alone

import d5


class Heavy(d5.Optimizer):
    """Momentum, written in Python.

    And more that no list shows.
    """

    def __init__(self, learning_rate: Annotated[float, "step along the velocity"] = 0.02,
                 momentum: float = 0.9):
        self.learning_rate, self.momentum, self.velocities = learning_rate, momentum, {}

    def update_rule(self, gradient, parameter, index):
        velocity = self.velocities.setdefault(parameter.name, np.zeros_like(gradient.numpy()))
        velocity *= np.float32(self.momentum)
        velocity += gradient.numpy()
        parameter.value.numpy()[...] -= np.float32(self.learning_rate) * velocity

    def state(self):
        return dict(self.velocities)

    def restore(self, state):
        self.velocities = {name: value.numpy().copy() for name, value in state.items()}


class Forgetful(Heavy):
    """Heavy, whose state leaves its velocities out."""

    def state(self):
        return {}

    def restore(self, state):
        pass


class Halving(d5.Schedule):
    """Halves every so many steps."""

    def __init__(self, size: int = 2):
        self.size = size

    def at(self, time, initial):
        return initial * 0.5 ** (time // self.size)


class Average(d5.StepModifier):
    """Tests with the mean of all parameters that there were."""

    def __init__(self, first: int = 0):
        self.first, self.steps, self.means, self.kept, self.losses = first, 0, [], [], []

    def after_step(self, optimizer, outputs):
        self.steps += 1
        values = [parameter.value.numpy() for parameter in optimizer.network.parameters]
        if not self.means:
            self.means = [value.copy() for value in values]
        for mean, value in zip(self.means, values):
            mean += (value - mean) / np.float32(self.steps)

    def begin_test(self, optimizer):
        values = [parameter.value.numpy() for parameter in optimizer.network.parameters]
        self.kept = [value.copy() for value in values]
        for value, mean in zip(values, self.means):
            value[...] = mean

    def end_test(self, optimizer):
        for parameter, kept in zip(optimizer.network.parameters, self.kept):
            parameter.value.numpy()[...] = kept

    def tested(self, optimizer, loss):
        self.losses.append(loss)

    def state(self):
        return {"steps": np.array(self.steps), **{str(i): m for i, m in enumerate(self.means)}}

    def restore(self, state):
        self.steps = state["steps"].item()
        self.means = [state[str(i)].numpy().copy() for i in range(len(state) - 1)]


class Worst(d5.Metric):
    """The largest loss of each stretch of so many batches."""

    quantity, statistic = "loss", "maximum"

    def __init__(self, every: int = 2):
        self.every, self.batches, self.worst = every, 0, 0.0

    def after_batch(self, trainer, batch, outputs):
        self.batches += 1
        self.worst = max(self.worst, outputs["loss"].item())
        if self.batches % self.every == 0:
            self.samples.append(self.worst)
            self.worst = 0.0

    def state(self):
        return {"batches": np.array(self.batches), "worst": np.array(self.worst)}

    def restore(self, state):
        self.batches, self.worst = state["batches"].item(), state["worst"].item()


class Stripes(d5.Dataset):
    """Images whose bright row is their class."""

    def __init__(self, size: int = 40):
        super().__init__()
        self.size = size

    def __len__(self):
        return self.size

    def fields(self):
        return {"image": ("float32", [1, 28, 28]), "label": ("int64", [])}

    def read(self, index, seed, epoch):
        image = np.zeros((1, 28, 28), np.float32)
        image[0, 2 * (index % 10) : 2 * (index % 10) + 2] = 1
        return {"image": image, "label": index % 10}


class Backwards(d5.Sampler):
    """From the last sample to the first."""

    def __init__(self, data, batch_size: int = 8):
        super().__init__()
        self.data, self.batch_size, self.place = data, batch_size, 0

    @property
    def dataset(self):
        return self.data

    def samples(self):
        return self.last

    def reset(self, epoch):
        self.place = len(self.data)

    def __len__(self):
        return -(-len(self.data) // self.batch_size)

    def next(self):
        rows = range(self.place - 1, max(self.place - self.batch_size, 0) - 1, -1)
        self.place -= self.batch_size
        samples = [self.data[row] for row in rows]
        if not samples:
            return None
        self.last = list(rows)
        return {name: np.stack([s[name].numpy() for s in samples]) for name in ("image", "label")}


d5.register("heavy")(Heavy)
d5.register("forgetful")(Forgetful)
d5.register("halving")(Halving)
d5.register("average")(Average)
d5.register("worst_loss")(Worst)
d5.register("stripes", kind="dataset")(lambda size=40: (Stripes(size), Stripes(20)))
d5.register("backwards")(Backwards)


def recipe(optimizer="heavy", batches=6, **more):
    return d5.Recipe({
        "name": "own",
        "fixed": {"dataset": {"name": "stripes"}, "model": {"name": "lenet"}},
        "mutable": {
            "sampler": {"name": "backwards", "batch_size": 8},
            "optimizer": {
                "name": optimizer,
                "learning_rate": 0.05,
                "schedules": {"learning_rate": {"name": "halving", "size": 3}},
                "modifiers": ["average", {"name": "clip_norm", "most": 1}],
            },
            "training": {"epochs": 3, "most_batches": batches, "seed": 1},
            "metrics": {"worst_loss": {"every": 3}},
        },
        "acceptable": {"worst_loss": {"at_most": 100}},
        **more,
    })


def values(session):
    return {p.name: p.value.numpy().copy() for p in session.network.parameters}


@alone("each would do all of it by itself, which is refused")
def test_a_recipe_of_parts_in_python_resumes_to_the_bit(tmp_path):
    def run(batches, **options):
        session = d5.TrainingSession(recipe(batches=batches), **options)
        rows = {row.metric: row for row in session.run()}
        assert rows["worst_loss"].status == "passed", rows["worst_loss"].reason
        return values(session), rows

    whole, rows = run(7)
    assert len(rows["worst_loss"].samples) == 2 and rows["worst_loss"].statistic == "maximum"
    run(3, checkpoint=tmp_path / "run.d5")
    rest, resumed = run(7, resume=tmp_path / "run.d5")
    for name, value in whole.items():
        np.testing.assert_array_equal(rest[name], value)
    assert resumed["worst_loss"].samples == rows["worst_loss"].samples
    assert resumed["test_accuracy"].samples[-1] == rows["test_accuracy"].samples[-1]


def test_an_optimizer_in_python_is_checked_as_any_other():
    rows, plot = d5.check_optimizer("heavy", against="momentum:learning_rate=0.02", steps=4)
    by_metric = {row.metric: row for row in rows}
    assert by_metric["rule_difference"].status == "passed"
    assert by_metric["trajectory_difference"].status == "passed"
    assert by_metric["optimizer_repeatability"].samples == [0, 0]
    assert by_metric["loss_ratio"].value < 1 and plot.svg().startswith("<svg")


def test_an_optimizer_that_forgets_is_found_by_the_check_alone(tmp_path):
    rows, _ = d5.check_optimizer("forgetful", steps=4)
    (found,) = [row for row in rows if row.metric == "optimizer_repeatability"]
    assert found.status == "failed" and "goes on from its state" in found.reason
    assert found.samples[0] == 0 < found.samples[1]


def test_two_optimizers_are_compared_step_by_step():
    def made(which, **options):
        executor = d5.executor(d5.model("lenet", with_loss=True, seed=2))
        return d5.optimizer(which, executor, **options)

    data = d5.sampler("ordered", d5.dataset("stripes").train, batch_size=8)
    rows, plot = d5.test_optimizer(lambda: made(Heavy(0.01)),
                                   lambda: made("momentum", learning_rate=0.01), data, steps=3)
    by_metric = {row.metric: row for row in rows}
    assert by_metric["rule_difference"].status == "passed" and not plot.empty
    assert len(by_metric["parameter_difference_l2"].samples) == 3


def test_a_sampler_in_python_is_held_to_its_law():
    rows = d5.test_sampler("backwards", d5.dataset("stripes").train, batch_size=16)
    by_metric = {row.metric: row for row in rows}
    assert by_metric["sampler_coverage"].samples == [0, 0]
    assert by_metric["sampler_repeatability"].status == "passed"


def test_numbers_of_an_optimizer_are_hyper_parameters():
    executor = d5.executor(d5.model("lenet", with_loss=True))
    rule = Heavy(learning_rate=0.5)
    optimizer = d5.optimizer(rule, executor, schedules={"momentum": Halving(1)})
    assert optimizer.hyper_parameters == {"learning_rate": 0.5, "momentum": 0.9}
    optimizer.set_hyper_parameter("learning_rate", 0.25)
    batch = next(d5.sampler("ordered", d5.dataset("stripes").train, batch_size=4))
    optimizer.step(batch)
    assert (rule.learning_rate, rule.momentum) == (0.25, 0.9)
    optimizer.step(batch)
    assert rule.momentum == 0.45
    with pytest.raises(d5.NotFound, match="momentum"):
        d5.optimizer(Heavy(), executor, schedules={"momentom": "linear"})


def bowl():
    """loss = w . w of a parameter w = (3, -4), whose gradient is 2 w."""
    network = d5.Network("bowl")
    network.add_parameter("w", np.array([3.0, -4.0]))
    network.add_node("Mul", ["w", "w"], ["square"])
    network.add_node("ReduceSum", ["square"], ["loss"], keepdims=0)
    network.add_output("loss")
    return d5.executor(network)


class Halved(d5.Optimizer):
    """Halves a step until it goes down: backtracking."""

    def __init__(self):
        self.losses = []

    def update(self, gradients):
        (w,) = gradients.network.parameters
        begin, slope, rate = w.value.numpy().copy(), w.gradient.numpy().copy(), 2.0
        before = gradients.outputs["loss"].item()
        while True:
            w.value.numpy()[...] = begin - rate * slope
            self.losses.append(gradients.loss())
            if self.losses[-1] < before:
                break
            rate /= 2
        outputs = gradients.run(factor=3)
        assert outputs["loss"].item() == self.losses[-1] == gradients.mean(self.losses[-1])
        np.testing.assert_array_equal(w.gradient.numpy(), 6 * w.value.numpy())
        gradients.run(add=True)
        np.testing.assert_array_equal(w.gradient.numpy(), 8 * w.value.numpy())

    def state(self):
        return {}

    def restore(self, state):
        pass


def test_an_optimizer_in_python_asks_for_several_gradients_a_step():
    rule = Halved()
    optimizer = d5.optimizer(rule, bowl())
    assert optimizer.step({})["loss"].item() == 25  # the step's own run
    # w - rate 2 w: -3 w for 2, -w for 1, and the valley for 0.5
    assert rule.losses == [225.0, 25.0, 0.0]
    # what modifiers do to gradients, `update` sees
    clipped = d5.optimizer(Halved(), bowl(), modifiers=[{"name": "clip_norm", "most": 2.5}])
    clipped.step({})
    (w,) = clipped.network.parameters
    # 2 w of norm 10 is a quarter of it: w - 2 w / 2 is the valley at once
    np.testing.assert_allclose(w.value.numpy(), [0, 0], atol=1e-15)


def test_tests_see_what_a_modifier_lends():
    average = Average()
    optimizer = d5.optimizer("sgd", bowl(), learning_rate=0.25, modifiers=[average])
    optimizer.step({})
    optimizer.step({})
    (w,) = optimizer.network.parameters
    trained = w.value.numpy().copy()
    optimizer.begin_test()
    np.testing.assert_array_equal(w.value.numpy(), np.array([3.0, -4.0]) * (0.5 + 0.25) / 2)
    optimizer.end_test()
    np.testing.assert_array_equal(w.value.numpy(), trained)
    state = optimizer.state()
    assert state["modifier/python/steps"].item() == 2 and optimizer.steps == 2
    fresh = d5.optimizer("sgd", bowl(), modifiers=[Average()])
    with pytest.raises(d5.Error):
        fresh.restore({})


def test_a_modifier_named_nothing_has_a_factor_on_the_loss():
    class Scale(d5.StepModifier):
        def loss_factor(self):
            return 4.0

        def gradients_final(self, optimizer, factor):
            self.seen = optimizer.network.parameters[0].gradient.numpy() * factor

    scale = Scale()
    d5.optimizer("sgd", bowl(), modifiers=[scale]).step({})
    np.testing.assert_array_equal(scale.seen, [6.0, -8.0])


def test_schedules_are_looked_at():
    cosine = d5.schedule("cosine", length=100)
    assert cosine.at(0, 0.5) == 0.5 and cosine.at(50, 0.5) == pytest.approx(0.25)
    assert d5.schedule("halving", size=1).at(3, 8.0) == 1.0


def test_what_is_no_part_is_refused():
    class Open(Heavy):
        def __init__(self, rate):
            super().__init__(rate)

    with pytest.raises(d5.TypeError, match="'rate' has no default"):
        d5.register("open")(Open)
    with pytest.raises(d5.ValueError, match="sgd"):
        d5.register("sgd")(Heavy)
    with pytest.raises(d5.ValueError, match="other options"):
        d5.register("heavy")(Halved)
    executor = bowl()
    with pytest.raises(d5.NotFound, match="heavy.*learning_rate"):
        d5.optimizer("heavy", executor, learning_rat=0.1)
    with pytest.raises(d5.TypeError, match="learning_rate is 'much', expected float"):
        d5.optimizer("heavy", executor, learning_rate="much")
    d5.register("no-metric", kind="metric")(lambda: 3)
    with pytest.raises(d5.TypeError, match="a metric is 3.*derived from"):
        d5.training_metric("no-metric")

    class Odd(d5.Metric):
        quantity = "lengths"

    with pytest.raises(d5.ValueError, match="lengths.*accuracy"):
        d5.training_metric(Odd())
    with pytest.raises(d5.ValueError, match="observes"):
        d5.optimizer("sgd", executor, schedules={"learning_rate": type(
            "Odd", (Halving,), {"observes": "weather"})()})
    d5.register("broken")(type("Broken", (Heavy,), {"__init__": lambda self: 1 / 0}))
    with pytest.raises(d5.Error, match="optimizer broken: ZeroDivisionError"):
        d5.optimizer("broken", executor)


def test_a_cell_that_adds_a_part_runs_twice():
    class Heavier(Heavy):
        pass

    d5.register("heavy")(Heavier)
    assert "heavy" in d5.optimizers()
    d5.register("heavy")(Heavy)


MINE = """
import d5
import numpy as np


@d5.register("my-sgd")
class Sgd(d5.Optimizer):
    '''Stochastic gradient descent, written in Python.'''

    def __init__(self, learning_rate: float = 0.01, ends: bool = False):
        self.learning_rate, self.ends = learning_rate, ends

    def update_rule(self, gradient, parameter, index):
        if self.ends:
            raise RuntimeError("no more")
        parameter.value.numpy()[...] -= np.float32(self.learning_rate) * gradient.numpy()

    def state(self):
        return {}

    def restore(self, state): ...
"""


@alone("the program would take itself for the rank that started it")
def test_the_program_loads_parts_in_python(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)

    def program(*arguments):
        words = [sys.executable, "-m", "d5", *arguments, "--load", tmp_path / "mine.py"]
        return subprocess.run(words, capture_output=True, text=True)

    assert "Stochastic gradient descent" in program("list", "optimizers").stdout
    check = program("optimizer", "check", "my-sgd", "--against", "sgd", "--steps", "2")
    assert check.returncode == 0 and "rule_difference" in check.stdout, check.stderr
    failed = program("train", "mnist-lenet-quick", "--set", "optimizer.name=my-sgd:ends=true")
    assert failed.returncode == 1
    assert "Python: RuntimeError: no more (mine.py:15)" in failed.stdout.replace("\n", " ")


def test_a_file_that_raises_several_lines_is_told_in_one(tmp_path):
    (tmp_path / "bad.py").write_text("raise RuntimeError('first\\n\\n  second')\n")
    words = [sys.executable, "-m", "d5", "list", "optimizers", "--load", tmp_path / "bad.py"]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.returncode == 2
    assert "RuntimeError: first / second (bad.py:1)" in run.stderr


@pytest.mark.parametrize("made", [None, 3])
def test_another_object_than_a_part_is_refused(made):
    with pytest.raises(d5.TypeError, match=f"^d5.register: made is {made}, expected a class, a function with its kind, or a name"):
        d5.register(made)
