# SPDX-License-Identifier: Apache-2.0
"""What ends long calls: Ctrl-C, and what Python raises within them."""

import collections
import contextlib
import functools
import itertools
import os
import signal
import subprocess
import threading

import numpy as np
import pytest
from rank_jobs import alone

import d5

pytestmark = alone("a signal ends one rank's call, and leaves the other in it")


@contextlib.contextmanager
def ctrl_c(number=signal.SIGINT):
    """Sends it from outside, as a terminal does, while the main thread is inside a call."""
    command = f"sleep 0.2; kill -{int(number)} {os.getpid()}"
    sender = subprocess.Popen(["sh", "-c", command], start_new_session=True)
    yield
    sender.wait()


def returned(call, *arguments):
    """What `call` returned before something was raised. No bytecode runs after it (there Python would
    raise what came too late for the call)."""
    results = []
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        results.extend(map(call, *([argument] for argument in arguments)))
    return results


def long_network():
    network = d5.Network("long")
    network.add_input("x0", "float32", [512, 512])
    network.add_parameter("w", np.zeros((512, 512), dtype=np.float32))
    for i in range(1000):
        network.add_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"])
    network.add_node("ReduceSum", ["x1000"], ["loss"], keepdims=0)
    network.add_output("loss")
    return network


MATRICES = "MatMul 2000x2000 2000x2000"
LONG_INPUT = {"x0": np.zeros((512, 512), dtype=np.float32)}


def test_ctrl_c_ends_a_run_within():
    executor = d5.executor(long_network())
    assert returned(executor.inference, LONG_INPUT) == []


def test_ctrl_c_ends_a_step_within():
    optimizer = d5.optimizer("sgd", d5.executor(long_network()))
    assert returned(optimizer.step, LONG_INPUT) == []


def test_ctrl_c_ends_a_measurement_of_what_runs_no_bytecode():
    assert returned(functools.partial(d5.measure, samples=10**6), itertools.count().__next__) == []


def test_ctrl_c_ends_a_benchmark():
    bench = functools.partial(d5.bench, samples=10**6)
    assert returned(bench, "MatMul 256x256 256x256") == []


def test_ctrl_c_ends_a_test_of_an_operator_between_two_runs():
    assert returned(functools.partial(d5.test_forward, framework="reference"), MATRICES) == []
    assert returned(d5.test_gradient, MATRICES) == []


def test_ctrl_c_ends_loading(tmp_path):
    network = d5.Network("wide")
    network.add_input("x", "float32", [1, 10000])
    for i in range(4):
        network.add_parameter(f"w{i}", np.zeros((2500, 10000), dtype=np.float32))
    network.add_node("Concat", [f"w{i}" for i in range(4)], ["w"], axis=0)
    network.add_node("MatMul", ["x", "w"], ["y"])
    network.add_output("y")
    network.save(tmp_path / "wide.onnx")
    assert returned(d5.Network.load, tmp_path / "wide.onnx") == []


@pytest.fixture
def large_data(tmp_path):
    """A folder for the data set mnist whose labels are a gibibyte, none of it on the disk."""
    count = 2**30
    with open(tmp_path / "train-labels-idx1-ubyte", "wb") as file:
        file.write(b"\0\0\x08\x01" + count.to_bytes(4, "big"))
        file.truncate(8 + count)
    return tmp_path


def test_ctrl_c_ends_the_opening_of_data(large_data):
    assert returned(functools.partial(d5.dataset, data=large_data), "mnist") == []


def test_ctrl_c_ends_training_that_opens_its_data(large_data):
    assert returned(functools.partial(d5.train, data=large_data), "mnist-lenet") == []


def samples_without_end():
    return map(d5.dataset("mnist").train.__getitem__, itertools.repeat(0, 10**6))


def batches_without_end():
    sampler = d5.sampler("ordered", d5.dataset("mnist").train, batch_size=1)
    return itertools.chain.from_iterable(itertools.repeat(sampler, 10**3))


def calls_of_next_without_end():
    sampler = d5.sampler("ordered", d5.dataset("mnist").train)
    return itertools.islice(iter(sampler.next, "never"), 10**7)


def short_runs_without_end():
    executor = d5.executor(d5.model("lenet"))
    image = {"image": np.zeros((1, 1, 28, 28), np.float32)}
    return map(executor.inference, itertools.repeat(image, 10**5))


LOOPS = [samples_without_end, batches_without_end, calls_of_next_without_end, short_runs_without_end]
run_to_the_end = functools.partial(collections.deque, maxlen=0)  # runs no bytecode


@pytest.mark.parametrize("loop", LOOPS)
def test_ctrl_c_ends_a_loop_of_short_calls_that_runs_no_bytecode(loop):
    assert returned(run_to_the_end, loop()) == []


class Enough(Exception):
    pass


@pytest.fixture
def usr1():
    """A handler of one's own, which raises."""

    def handler(number, frame):
        raise Enough

    former = signal.signal(signal.SIGUSR1, handler)
    yield signal.SIGUSR1
    signal.signal(signal.SIGUSR1, former)


def test_a_handler_of_one_s_own_is_called_within_a_call(usr1):
    with ctrl_c(usr1), pytest.raises(Enough):
        d5.bench("MatMul 256x256 256x256", samples=10**6)


def ended_by_a_thread(usr1, call, argument):
    """Whether a thread ended the call, which runs no bytecode: if it had to wait for the end, there
    would be a result."""
    thread = threading.Timer(0.1, os.kill, (os.getpid(), usr1))
    results = []
    with pytest.raises(Enough):
        thread.start()
        results.extend(map(call, [argument]))
    thread.join()
    return results == []


def test_threads_run_while_what_runs_no_bytecode_is_measured(usr1):
    measure = functools.partial(d5.measure, samples=10**6)
    assert ended_by_a_thread(usr1, measure, itertools.count().__next__)


def test_threads_run_while_data_is_opened(usr1, large_data):
    assert ended_by_a_thread(usr1, functools.partial(d5.dataset, data=large_data), "mnist")


@pytest.mark.parametrize("loop", LOOPS)
def test_threads_run_while_a_loop_of_short_calls_runs_no_bytecode(loop, usr1):
    assert ended_by_a_thread(usr1, run_to_the_end, loop())


@pytest.mark.parametrize("exit", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_is_no_failure_of_the_measured(exit):
    def leave():
        raise exit

    with pytest.raises(exit):
        d5.measure(leave)

    @d5.operator("Leaving", domain="org.example.interrupts")
    class Leaving(d5.Operator):
        def forward(self, context):
            raise exit

    with pytest.raises(exit):
        d5.bench("org.example.interrupts.Leaving 2x3")


def test_what_the_measured_raises_is_its_failure():
    def fail():
        raise KeyError("mine")

    (row,) = d5.measure(fail)
    assert row.status == "failed" and "mine" in row.reason


def test_the_first_ctrl_c_leaves_hooks_and_checkpoint_whole(tmp_path):
    class Hooks(d5.Event):
        began = ended = 0

        def after_batch(self, trainer, batch, outputs):
            self.began += 1
            if self.began == 3:
                os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass
            self.ended += 1

    mnist = d5.dataset("mnist")
    checkpoint = tmp_path / "run"
    optimizer = d5.optimizer("sgd", d5.executor(d5.model("lenet", with_loss=True)))
    train = d5.sampler("shuffle", mnist.train, batch_size=8)
    trainer = d5.Trainer(optimizer, train, epochs=1000, checkpoint=checkpoint)
    hooks = Hooks()
    trainer.add_event(hooks)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert hooks.began == hooks.ended == trainer.step
    again = d5.Trainer(optimizer, train)
    again.resume(checkpoint)
    assert again.step == trainer.step


def test_a_long_call_within_a_hook_of_another_is_ended_too():
    class Nested(d5.Event):
        def before_run(self, direction):
            d5.measure(itertools.count().__next__, samples=10**6)

    executor = d5.executor(d5.model("lenet"))
    executor.add_event(Nested())
    assert returned(executor.inference, {"image": np.zeros((1, 1, 28, 28), np.float32)}) == []
