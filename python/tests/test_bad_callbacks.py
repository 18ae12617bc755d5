# SPDX-License-Identifier: Apache-2.0
"""What callbacks should not do, and objects that come and go."""

import concurrent.futures
import gc
import os
import signal

import numpy as np
import pytest

import d5


def scaled():
    network = d5.Network("scaled")
    network.add_input("x", "float32", [3])
    network.add_parameter("w", np.ones(1, np.float32))
    network.add_node("Mul", ["x", "w"], ["y"])
    network.add_node("Relu", ["y"], ["z"], name="relu")
    network.add_output("z")
    return network


FEED = {"x": np.ones(3, np.float32)}


class Once(d5.Event):
    """Does something within a run."""

    def __init__(self, what):
        self.what = what

    def before_node(self, step):
        what, self.what = self.what, lambda: None
        what()


def run_with(what):
    executor = d5.executor(scaled())
    executor.add_event(Once(lambda: what(executor)))
    first = executor.inference(FEED)
    return first, executor.inference(FEED)


@pytest.mark.parametrize(
    "what",
    [lambda executor: executor.inference(FEED), lambda executor: setattr(executor, "mode", "training")],
    ids=["run", "mode"],
)
def test_an_executor_is_not_asked_for_a_run_within_its_own(what):
    executor = d5.executor(scaled())
    executor.inference(FEED)
    executor.add_event(Once(lambda: what(executor)))
    with pytest.raises(d5.ValueError, match="within its own run, from a hook or an operator"):
        executor.inference(FEED)
    assert executor.inference(FEED)["z"].numpy().tolist() == [1, 1, 1]


def test_an_operator_does_not_run_its_own_executor():
    made = []

    @d5.operator("RunsItself", domain="bad_callbacks")
    class RunsItself(d5.Operator):
        def forward(self, context):
            made[0].inference(FEED)

    network = d5.Network("itself")
    network.add_input("x", "float32", [3])
    network.add_node("RunsItself", ["x"], ["y"], domain="bad_callbacks")
    network.add_output("y")
    made.append(d5.executor(network))
    with pytest.raises(d5.ValueError, match="within its own run") as raised:
        made[0].inference(FEED)
    assert any(entry.name == "forward" for entry in raised.traceback)


def test_a_network_that_a_hook_edits_is_run_so_from_the_next_run_on():
    def edit(executor):
        executor.network.add_node("Neg", ["z"], ["negative"])
        executor.network.add_output("negative")

    first, second = run_with(edit)
    assert sorted(first) == ["z"] and sorted(second) == ["negative", "z"]
    assert second["negative"].numpy().tolist() == [-1, -1, -1]

    first, second = run_with(lambda executor: executor.network.remove_node("relu"))
    assert first["z"].numpy().tolist() == [1, 1, 1] and "z" not in second


def train(*events, optimizer="sgd"):
    executor = d5.executor(d5.model("lenet", with_loss=True))
    data = d5.subset(d5.dataset("mnist").test, list(range(20)))
    trainer = d5.Trainer(d5.optimizer(optimizer, executor), d5.sampler("ordered", data, batch_size=10))
    for event in events:
        trainer.add_event(event)
    trainer.run()


def test_an_edit_that_training_cannot_go_on_with_is_refused_where_it_is_made():
    class Edit(d5.Event):
        def after_batch(self, trainer, batch, outputs):
            trainer.optimizer.network.remove_node("relu1")

    with pytest.raises(d5.ValueError, match="'relu1.out' cannot be removed: MaxPool 'pool1' needs it") as raised:
        train(Edit())
    assert any(entry.name == "after_batch" for entry in raised.traceback)


class Stop(d5.Event):
    def __init__(self, answer):
        self.answer, self.batches = answer, 0

    def after_batch(self, trainer, batch, outputs):
        self.batches += 1

    def wants_stop(self):
        return self.answer if self.batches else False


@pytest.mark.parametrize("answer, batches", [(True, 1), (np.bool_(True), 1), (np.float32(2) > 1, 1), (False, 2), (np.bool_(False), 2)])
def test_a_wish_to_stop_is_a_flag(answer, batches):
    event = Stop(answer)
    train(event)
    assert event.batches == batches


@pytest.mark.parametrize("answer", ["no", 1, "", None, 0.5, [False], np.zeros(2)], ids=repr)
def test_a_wish_to_stop_that_is_no_flag_is_refused(answer):
    with pytest.raises(d5.TypeError, match=r"Stop\.wants_stop\(\) gave .*, expected True or False"):
        train(Stop(answer))


class Rule(d5.ThreeStepOptimizer):
    def __init__(self, returned):
        self.returned = returned

    def update_rule(self, gradient, parameter):
        return self.returned(parameter.value.numpy())


@pytest.mark.parametrize(
    "returned, error, text",
    [
        (lambda value: np.zeros(3, np.float32), d5.ShapeError, "returned float32 3 for parameter"),
        (lambda value: "text", d5.ShapeError, "returned string scalar for parameter"),
        (lambda value: value.resize(3), ValueError, "does not own its data"),
        (lambda value: [None], d5.TypeError, "expected numbers"),
    ],
    ids=["shape", "type", "resize", "object"],
)
def test_an_update_that_is_no_value_of_the_parameter_is_refused(returned, error, text):
    with pytest.raises(error, match=text):
        train(optimizer=Rule(returned))


@pytest.mark.parametrize(
    "hook, steps",
    [("before_training", 0), ("before_epoch", 1), ("before_batch", 1), ("after_batch", 1), ("after_epoch", 2)],
)
def test_a_wish_to_stop_is_heard_after_the_batch_that_is_at_work(hook, steps):
    """As in C++, where it is asked before training, after every batch and after every epoch."""

    class Wish(d5.Event):
        wished = False

        def wants_stop(self):
            return self.wished

    def wish(self, *told):
        self.wished = True

    executor = d5.executor(d5.model("lenet", with_loss=True))
    data = d5.subset(d5.dataset("mnist").test, list(range(20)))
    trainer = d5.Trainer(d5.optimizer("sgd", executor), d5.sampler("ordered", data, batch_size=10), epochs=3)
    trainer.add_event(type("Wish", (Wish,), {hook: wish})())
    trainer.run()
    assert trainer.step == steps


def test_a_fork_within_a_hook_ends_by_itself():
    class Fork(d5.Event):
        def after_batch(self, trainer, batch, outputs):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                own = d5.executor(scaled()).inference(FEED)["z"].numpy().tolist()
                os._exit(0 if own == [1, 1, 1] else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    train(Fork())


def test_a_thread_that_a_hook_starts_cannot_have_the_executor():
    class Share(d5.Event):
        def after_batch(self, trainer, batch, outputs):
            executor = trainer.optimizer.executor
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                pool.submit(executor.inference, {"image": np.zeros((1, 1, 28, 28), np.float32)}).result()

    with pytest.raises(d5.ValueError, match="at work in another thread"):
        train(Share())


def test_a_fork_runs_on_by_itself():
    executor = d5.executor(d5.model("lenet"))
    images = {"image": np.ones((4, 1, 28, 28), np.float32)}
    expected = executor.inference(images)["logits"].numpy()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a lock that another thread held would never be let go
        same = np.array_equal(executor.inference(images)["logits"].numpy(), expected)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def refused():
    with pytest.raises(d5.NotFound):
        d5.model("nothing")


ARRAY = np.ones(4, np.float32)
MAKERS = {
    "tensor": (lambda: d5.Tensor(ARRAY), 10_000),
    "array": (lambda: d5.Tensor(ARRAY).numpy(), 10_000),
    "network": (scaled, 10_000),
    "executor": (lambda: d5.executor(scaled()), 1_000),
    "event": (lambda: Once(None), 10_000),
    "metric": (lambda: d5.training_metric("loss"), 10_000),
    "schedule": (lambda: d5.schedule("cosine", length=10), 10_000),
    "plot": (lambda: d5.Plot({"a": [(1, 2)]}), 10_000),
    "error": (refused, 500),
}


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the address sanitizer keeps what is freed")
@pytest.mark.parametrize("kind", MAKERS)
def test_objects_that_are_made_and_dropped_take_no_memory(kind):
    make, count = MAKERS[kind]

    def growth():
        before = memory()
        for _ in range(count // 3):
            make()
        gc.collect()
        return (memory() - before) / (count // 3)

    growth()
    # The smallest of them has 16 bytes and its Python object some 50. What is lost is lost in every
    # round; an allocator takes its pages in one.
    assert min(growth() for _ in range(3)) < 40
