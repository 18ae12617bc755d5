# SPDX-License-Identifier: Apache-2.0
import os
import signal
from collections.abc import Callable

import numpy as np
import pytest

import d5


def mnist_trainer(optimizer_for, **options):
    mnist = d5.dataset("mnist", subset="sample")
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    optimizer = optimizer_for(executor)
    train = d5.sampler("shuffle", mnist.train, batch_size=32, seed=1)
    test = d5.sampler("ordered", mnist.test, batch_size=500)
    return executor, d5.Trainer(optimizer, train, test, **options)


def test_lenet_learns_mnist_in_one_epoch_of_the_sample():
    _, trainer = mnist_trainer(lambda e: d5.optimizer("momentum", e, learning_rate=0.02), epochs=1)
    accuracy = d5.training_metric("test_accuracy")
    trainer.add_event(accuracy)
    trainer.run()
    # Guessing gives 0.1; one pass over 6,000 images gives above 0.9 with any seed tried.
    assert accuracy.value > 0.85


def test_an_optimizer_in_python_does_what_the_one_in_c_plus_plus_does():
    class Sgd(d5.Optimizer):
        def update_rule(self, gradient, parameter, index):
            parameter.value.numpy()[...] -= np.float32(0.05) * gradient.numpy()

        def state(self):
            return {}

        def restore(self, state):
            pass

    def weights(make):
        executor, trainer = mnist_trainer(make, most_batches=5)
        trainer.run()
        return {p.name: p.value.numpy().copy() for p in executor.network.parameters}

    python = weights(lambda e: d5.optimizer(Sgd(), e))
    native = weights(lambda e: d5.optimizer("sgd", e, learning_rate=0.05))
    for name, value in native.items():
        # one rounding more or less a step (fused multiply-add)
        np.testing.assert_allclose(python[name], value, rtol=1e-5, atol=1e-6)


class Momentum(d5.Optimizer):
    """Remembers a velocity for each parameter, and how many steps it made."""

    def __init__(self):
        self.velocities = {}
        self.steps = 0

    def new_input(self):
        self.steps += 1

    def update_rule(self, gradient, parameter, index):
        velocity = self.velocities.setdefault(parameter.name, np.zeros_like(gradient.numpy()))
        velocity *= np.float32(0.9)
        velocity += gradient.numpy()
        parameter.value.numpy()[...] -= np.float32(0.02) * velocity

    def state(self):
        return {"steps": np.array(self.steps, np.int64), **self.velocities}

    def restore(self, state):
        self.velocities = {name: value.numpy().copy() for name, value in state.items()}
        self.steps = self.velocities.pop("steps").item()


def test_an_optimizer_in_python_keeps_its_state_across_a_checkpoint(tmp_path):
    def run(batches, resume=None):
        rule = Momentum()
        executor, trainer = mnist_trainer(
            lambda e: d5.optimizer(rule, e), most_batches=batches, checkpoint=str(tmp_path / "run")
        )
        if resume:
            trainer.resume(resume)
        trainer.run()
        return rule, {p.name: p.value.numpy().copy() for p in executor.network.parameters}

    whole_rule, whole = run(6)
    run(3)
    rest_rule, rest = run(6, resume=str(tmp_path / "run"))
    assert whole_rule.steps == rest_rule.steps == 6
    for name, value in whole.items():
        np.testing.assert_array_equal(rest[name], value)


def test_dropout_in_python_goes_on_where_a_checkpoint_left_it(tmp_path):
    def network():
        net = d5.Network("dropped")
        net.add_input("image", "float32", ["N", 1, 28, 28])
        net.add_input("label", "int64", ["N"])
        weights = np.random.default_rng(1).normal(0, 0.05, (784, 10)).astype(np.float32)
        net.add_parameter("w", weights)
        net.add_constant("ratio", np.array(0.5, np.float32))
        net.add_constant("training", np.array(True))
        net.add_node("Flatten", ["image"], ["flat"])
        net.add_node("Dropout", ["flat", "ratio", "training"], ["kept"])
        net.add_node("MatMul", ["kept", "w"], ["logits"])
        net.add_node("SoftmaxCrossEntropyLoss", ["logits", "label"], ["loss"])
        net.add_output("logits")
        net.add_output("loss")
        return net

    def run(batches, resume=None):
        executor = d5.executor(network(), seed=3)
        train = d5.sampler("shuffle", d5.dataset("mnist").train, batch_size=32, seed=1)
        trainer = d5.Trainer(
            d5.optimizer("sgd", executor), train, most_batches=batches, checkpoint=str(tmp_path / "run")
        )
        if resume:
            trainer.resume(resume)
        trainer.run()
        return executor.network.parameters[0].value.numpy().copy()

    whole = run(6)
    run(3)
    np.testing.assert_array_equal(run(6, resume=str(tmp_path / "run")), whole)


@pytest.mark.parametrize(
    ("batch_size", "seed", "rate", "words"),
    [
        (16, 1, 0.02, "sampler.batch_size: 32 in the checkpoint, 16 here"),
        (32, 2, 0.02, "sampler.seed: 1 in the checkpoint, 2 here"),
        (32, 1, 0.2, "optimizer.learning_rate: 0.02 in the checkpoint, 0.2 here"),
    ],
)
def test_a_run_with_other_settings_does_not_resume_a_checkpoint(tmp_path, batch_size, seed, rate, words):
    data = d5.tensor_dataset({"image": np.zeros((64, 1, 28, 28), np.float32), "label": np.arange(64) % 10})

    def trainer(batch_size=32, seed=1, rate=0.02):
        executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
        train = d5.sampler("shuffle", data, batch_size=batch_size, seed=seed)
        return d5.Trainer(d5.optimizer("sgd", executor, learning_rate=rate), train)

    trainer().save_checkpoint(tmp_path / "run")
    trainer().resume(tmp_path / "run")
    with pytest.raises(d5.FormatError, match=words):
        trainer(batch_size, seed, rate).resume(tmp_path / "run")


def test_an_optimizer_in_python_without_a_state_is_refused():
    class Forgetful(d5.Optimizer):
        def update_rule(self, gradient, parameter, index): ...

    executor = d5.executor(d5.model("lenet", with_loss=True))
    with pytest.raises(TypeError, match="Forgetful has no method state"):
        d5.optimizer(Forgetful(), executor)


def test_a_sampler_takes_its_options_as_keywords():
    data = d5.dataset("mnist").test
    assert len(d5.sampler("ordered", data, batch_size=len(data) - 1)) == 2
    assert len(d5.sampler("ordered", data, batch_size=len(data) - 1, tail="drop")) == 1
    with pytest.raises(d5.NotFound, match="sampler ordered: option 'batchsize'.*batch_size"):
        d5.sampler("ordered", data, batchsize=3)


def test_an_event_in_python_stops_training():
    class StopAfter(d5.Event):
        batches = 0

        def after_batch(self, trainer, batch, outputs):
            self.batches += 1
            assert np.isfinite(outputs["loss"].item())

        def wants_stop(self):
            return self.batches == 3

    event = StopAfter()
    _, trainer = mnist_trainer(lambda e: d5.optimizer("adam", e), epochs=1)
    trainer.add_event(event)
    trainer.run()
    assert event.batches == 3 and trainer.step == 3


def test_ctrl_c_ends_training_as_python_s_keyboard_interrupt():
    class CtrlC(d5.Event):
        def before_batch(self, trainer, batch):
            if trainer.step == 2:
                os.kill(os.getpid(), signal.SIGINT)

    _, trainer = mnist_trainer(lambda e: d5.optimizer("sgd", e), epochs=1000)
    trainer.add_event(CtrlC())
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    # 1000 epochs have tens of thousands; the request comes from another thread, a batch later or so.
    assert 2 <= trainer.step < 200
    handler = signal.getsignal(signal.SIGINT)
    assert handler is signal.default_int_handler


def test_a_misspelt_option_is_answered_with_the_nearest():
    executor = d5.executor(d5.model("lenet", with_loss=True))
    with pytest.raises(d5.NotFound, match="learning_rate"):
        d5.optimizer("sgd", executor, learning_rat=0.1)


def test_a_measurement_of_a_python_callable():
    (time,) = d5.measure(lambda: sum(range(1000)), name="sum", samples=30)
    low, high = time.interval
    assert time.status in ("passed", "mistrusted") and low <= time.median <= high and low > 0
    assert time.statistic == "median" and time.quantity == "time" and time.value == time.median
    assert "sum" in d5.to_table([time])


def test_python_callables_are_measured_side_by_side():
    def work(n: int) -> Callable[[], object]:
        return lambda: sum(range(n))

    rows = d5.measure({"short": work(1000), "long": work(20000)}, name="sum", samples=30)
    assert [(row.framework, row.metric) for row in rows] == [
        ("short", "time"), ("long", "time"), ("long", "time_ratio")]
    assert {row.subject for row in rows} == {"sum"} and rows[2].conditions["base"] == "short"
    assert rows[2].value > 1


def test_a_benchmark_is_a_sentence():
    rows = d5.bench("Relu 2x3", frameworks=["reference"], samples=30)
    assert {row.metric for row in rows} >= {"time", "byte_rate"}
    rows = d5.bench_network("lenet", frameworks=["reference"], batch=2, samples=3)
    assert [row.metric for row in rows] == ["time", "sample_rate", "framework_overhead"]
    rows = d5.bench_network("lenet", batch=[1, 2], metrics=["time", "latency_p90"], samples=3)
    assert [row.conditions["batch"] for row in rows if row.metric == "time"] == [1, 2]
    assert {row.statistic for row in rows if row.metric == "latency_p90"} == {"p90"}
    assert {row.conditions["answers"] for row in rows} == {"right"}
    rows = d5.bench_network("lenet", frameworks=["torch"], samples=3, unjudged=True)
    assert {row.conditions["judge"] for row in rows} == {"none: unjudged"}
    rows = d5.bench("Relu 2x3", frameworks=["torch"], samples=3, judge_seconds=5)
    assert {row.conditions["answers"] for row in rows if row.metric == "time"} == {"right"}


def test_a_profile_tells_which_node_costs_most():
    rows = d5.bench_network("lenet", metrics=["time"], samples=3, profile=True)
    times = {
        row.conditions["node"]: row.value
        for row in rows
        if row.metric == "time" and row.conditions.get("by") == "node"
    }
    assert {"conv1", "pool1", "fc3"} <= times.keys()
    assert max(times, key=lambda name: times[name]) != "flatten"


def test_a_gradient_check_from_python():
    assert all(row.status == "passed" for row in d5.test_gradient("Gemm 3x4 4x2"))


class Rows(d5.Sampler):
    """Batches of arrays in order, rotated by the epoch: a loader of somebody else's."""

    def settings(self):
        return {"batch_size": self.batch_size}

    def __init__(self, arrays, batch_size):
        super().__init__()
        self.arrays, self.batch_size, self.place, self.epoch = arrays, batch_size, 0, 0

    def reset(self, epoch):
        self.place, self.epoch = 0, epoch

    def next(self):
        begin = self.place
        self.place += self.batch_size
        turned = {name: np.roll(array, self.epoch, axis=0) for name, array in self.arrays.items()}
        batch = {name: array[begin : self.place].copy() for name, array in turned.items()}
        return batch if len(batch["label"]) else None

    def __len__(self):
        return -(-len(self.arrays["label"]) // self.batch_size)


def digits(count):
    samples = list(d5.dataset("mnist", train_samples=count).train)  # type: ignore[call-overload]
    return {
        "image": np.stack([sample["image"].numpy() for sample in samples]),
        "label": np.array([sample["label"].numpy().item() for sample in samples]),
    }


def weights_of(executor):
    return {p.name: p.value.numpy().copy() for p in executor.network.parameters}


def lenet_of(sampler, **options):
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    optimizer = d5.optimizer("momentum", executor, learning_rate=0.02)
    return executor, d5.Trainer(optimizer, sampler, **options)


def test_a_sampler_in_python_trains_as_d5_s_own():
    executor, trainer = lenet_of(Rows(digits(50), 16))
    trainer.run()
    assert trainer.step == 4
    own, own_trainer = lenet_of(
        d5.sampler("ordered", d5.dataset("mnist", train_samples=50).train, batch_size=16)
    )
    own_trainer.run()
    for name, value in weights_of(own).items():
        np.testing.assert_array_equal(weights_of(executor)[name], value)


def test_a_sampler_in_python_resumes_within_an_epoch(tmp_path):
    data = digits(50)
    whole, trainer = lenet_of(Rows(data, 16), epochs=2)
    trainer.run()
    checkpoint = tmp_path / "run.d5"
    _, first = lenet_of(Rows(data, 16), epochs=2, most_batches=6, checkpoint=checkpoint)
    first.run()
    resumed, second = lenet_of(Rows(data, 16), epochs=2, checkpoint=checkpoint)
    second.resume(checkpoint)
    second.run()
    for name, value in weights_of(whole).items():
        np.testing.assert_array_equal(weights_of(resumed)[name], value)


def test_a_sampler_in_python_is_iterated_as_any_other():
    sampler = Rows(digits(5), 2)
    assert [batch.size for batch in sampler] == [2, 2, 1]
    assert len(sampler) == 3
    sampler.seek(1, 2)
    assert sampler.__next__().index == 2
    with pytest.raises(d5.ValueError, match="Rows: batch 4 of epoch 0"):
        sampler.seek(0, 4)


def test_a_sampler_in_python_that_gives_something_else_is_refused():
    class Wrong(Rows):
        given: object

        def next(self):
            return self.given

    sampler = Wrong({"label": np.arange(4)}, 2)
    for given, error in [
        ([1, 2], d5.TypeError),
        ({}, d5.ValueError),
        ({"a": np.zeros((2, 3)), "b": np.zeros(3)}, d5.ShapeError),
        ({"a": np.array(1.0)}, d5.ShapeError),
    ]:
        sampler.given = given
        with pytest.raises(error, match="sampler Wrong"):
            list(sampler)
    with pytest.raises(d5.Unsupported, match="no method next"):
        type("Empty", (d5.Sampler,), {"reset": lambda self, epoch: None})().__next__()


def test_batches_that_are_read_ahead_are_the_same():
    data = d5.dataset("mnist", train_samples=100).train
    plain, ahead = (d5.sampler("shuffle", data, batch_size=16, seed=3) for _ in range(2))
    ahead.read_ahead(2)
    for expected, batch in zip(plain, ahead):
        assert batch.samples == expected.samples
        np.testing.assert_array_equal(batch.values["image"], expected.values["image"])


def test_a_recipe_trains_the_same_with_threads_that_read_ahead():
    settings = ["training.epochs=1", "training.most_batches=5"]

    def losses(**options):
        rows, _ = d5.train("mnist-lenet-quick", overrides=settings, **options)
        return next(row for row in rows if row.metric == "loss").samples

    assert list(losses(loader_threads=2)) == list(losses())


def test_a_network_pulls_its_own_data():
    def losses(step_of):
        executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
        optimizer = d5.optimizer("momentum", executor, learning_rate=0.02)
        step = step_of(executor, optimizer)
        return [float(step()["loss"]) for _ in range(6)]

    def fed(executor, optimizer):
        data = iter(Rows(digits(50), 10))
        return lambda: optimizer.step(next(data, None) or next(iter(data)))

    feeds = []

    def pulled(executor, optimizer):
        feeds.append(d5.feed_from(executor, Rows(digits(50), 10)))
        return lambda: optimizer.step({})

    assert losses(pulled)[:5] == losses(fed)[:5]
    assert (feeds[0].batch.epoch, feeds[0].batch.index) == (1, 0)


def small_trainer(**options):
    data = d5.tensor_dataset({"image": np.zeros((2, 1, 28, 28), np.float32), "label": np.zeros(2, np.int64)})
    optimizer = d5.optimizer("sgd", d5.executor(d5.model("lenet", with_loss=True)))
    return d5.Trainer(optimizer, d5.sampler("ordered", data, batch_size=2), **options)


class Counts(d5.Metric):
    def after_batch(self, trainer, batch, outputs):
        self.samples.append(1.0)


@pytest.mark.parametrize("make", [lambda: d5.training_metric("loss"), Counts, d5.LiveCurves], ids=["native", "own", "event"])
def test_an_event_is_added_once(make):
    trainer, event = small_trainer(), make()
    trainer.add_event(event)
    with pytest.raises(d5.ValueError, match="is an event of this trainer already, and would count twice"):
        trainer.add_event(event)
    trainer.run()
    with pytest.raises(d5.ValueError, match="events has .* twice"):
        d5.train("mnist-lenet-quick", events=[event, event])


@pytest.mark.parametrize("event", [None, "loss"])
def test_another_object_than_an_event_is_refused(event):
    with pytest.raises(d5.TypeError, match="^d5.Trainer.add_event: event is .*; expected an object"):
        small_trainer().add_event(event)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"epochs": -1}, "trainer: epochs is -1, expected an integer of 0 or more"),
        ({"checkpoint_every": 0}, "trainer: checkpoint_every is 0, expected an integer of 1 or more"),
        ({"checkpoint_every": 5}, "trainer: checkpoint_every is given without checkpoint, the file to write"),
        ({"checkpoints_kept": 0}, "trainer: checkpoints_kept is 0, expected an integer of 1 or more"),
    ],
)
def test_an_option_of_a_trainer_that_does_nothing_is_refused(options, text):
    with pytest.raises(d5.ValueError, match=f"^{text}$"):
        small_trainer(**options)


def test_options_of_a_training_that_do_nothing_are_refused():
    with pytest.raises(d5.ValueError, match="init_skip_differing is given without init"):
        d5.train("mnist-lenet-quick", init_skip_differing=True)
    with pytest.raises(d5.ValueError, match="checkpoint_every is given without checkpoint"):
        d5.train("mnist-lenet-quick", checkpoint_every=5)


def test_random_numbers_of_a_training_do_not_depend_on_its_tests():
    def trained(test_every, with_test):
        network = d5.model("lenet", with_loss=True, seed=1)
        network.add_constant("ratio", np.float32(0.5))
        network.add_constant("training", np.array(True))
        fc3 = next(node for node in network.nodes if "fc3.weight" in node.inputs)
        network.add_node("Dropout", [fc3.inputs[0], "ratio", "training"], ["kept"])
        network.replace_node(fc3.name, fc3.op_type, ["kept", *fc3.inputs[1:]], list(fc3.outputs), **fc3.attributes)
        data = d5.tensor_dataset({"image": np.random.default_rng(0).normal(size=(8, 1, 28, 28)).astype(np.float32), "label": np.arange(8)})
        batches = [d5.sampler("ordered", data, batch_size=4) for _ in range(2)]
        executor = d5.executor(network)
        executor.mode = "training"
        tests = {"test": batches[1], "test_every": test_every} if with_test else {}
        d5.Trainer(d5.optimizer("sgd", executor), batches[0], epochs=3, **tests).run()
        return network.fetch("fc1.weight").numpy().copy()

    alone = trained(1, False)
    assert np.array_equal(trained(1, True), alone) and np.array_equal(trained(2, True), alone)
