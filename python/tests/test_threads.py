# SPDX-License-Identifier: Apache-2.0
"""Several of Python's threads at once."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rank_jobs import alone

import d5


def test_threads_that_train_at_once_do_what_one_does():
    def weights(seed):
        mnist = d5.dataset("mnist")
        executor = d5.executor(d5.model("lenet", with_loss=True, seed=seed))
        optimizer = d5.optimizer("momentum", executor, learning_rate=0.01)
        train = d5.sampler("shuffle", mnist.train, batch_size=16, seed=seed)
        d5.Trainer(optimizer, train, most_batches=5).run()
        return [p.value.numpy().copy() for p in executor.network.parameters]

    alone = [weights(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(weights, range(4)))
    for a, b in zip(alone, together):
        for x, y in zip(a, b):
            np.testing.assert_array_equal(x, y)


def test_threads_read_one_data_set():
    data = d5.dataset("mnist").train

    def label(i):
        return data[i]["label"].item()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(label, range(200))) == [label(i) for i in range(200)]


def inside(event_name, executor):
    """Two events: the executor is inside a run, and it may go on."""
    entered, leave = threading.Event(), threading.Event()

    class Wait(d5.Event):
        pass

    def wait(self, *_):
        entered.set()
        leave.wait()

    setattr(Wait, event_name, wait)
    executor.add_event(Wait())
    return entered, leave


def test_an_executor_is_one_thread_s_at_a_time():
    executor = d5.executor(d5.model("lenet"))
    image = {"image": np.zeros((1, 1, 28, 28), np.float32)}
    entered, leave = inside("before_run", executor)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(executor.inference, image)
        entered.wait()
        try:
            with pytest.raises(d5.ValueError, match="executor is at work in another thread"):
                executor.inference(image)
        finally:
            leave.set()
        assert first.result().keys() == executor.inference(image).keys()


def test_a_long_call_lets_other_threads_run_and_ends_with_its_own_error():
    def fail():
        return d5.executor(d5.model("lenet")).inference({})

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(fail) for _ in range(8)]:
            with pytest.raises(d5.NotFound):
                future.result()


LEFT_BEHIND = """
import threading
import d5

begun = threading.Event()


class Begun(d5.Event):
    def after_batch(self, trainer, batch, outputs):
        if trainer.step == 2:
            begun.set()


def train():
    d5.repeat_training("mnist-lenet-quick", runs=100, events=[Begun()], say=print)


d5.set_threads(1)
threading.Thread(target=train, daemon=True).start()
assert begun.wait(60)
"""


@alone("its program would take itself for the rank that started it")
def test_a_thread_that_is_left_behind_within_a_long_call_is_no_crash():
    ended = subprocess.run([sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


READS_AHEAD = """
import time

import numpy as np

import d5


class Slow(d5.Dataset):
    def __len__(self):
        return 100

    def fields(self):
        return {"x": ("float32", [])}

    def read(self, index, seed, epoch):
        end = time.monotonic() + 0.002
        while time.monotonic() < end:
            pass
        return {"x": np.float32(index)}


class Loader(d5.Sampler):
    def next(self):
        return {"x": np.stack([Slow.read(self, 0, 0, 0)["x"]] * 5)}

    def reset(self, epoch=0):
        pass

    def __len__(self):
        return 100


samplers = [d5.sampler("ordered", Slow(), batch_size=8), Loader()]
for sampler in samplers:
    sampler.read_ahead(2)
    d5.Sampler.next(sampler)
"""


def test_a_program_may_end_while_samplers_read_ahead():
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", READS_AHEAD], capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, "")


PINNED = """
import os
import d5

assert d5.pinning() == "none"
print(d5.pin_threads())
d5.set_threads(1)
cores = os.sched_getaffinity(0)
assert d5.pinning() == f"cores {min(cores)}" and len(cores) == 1, (d5.pinning(), cores)
"""


def test_threads_are_bound_and_stay_so_when_their_number_changes():
    ended = subprocess.run([sys.executable, "-c", PINNED], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("cores ")


@pytest.mark.parametrize("count", [0, 10**6])
def test_a_number_of_threads_that_no_machine_has_is_refused(count):
    before = d5.threads()
    with pytest.raises(d5.ValueError, match=f"threads is {count}, expected 1 to 4096"):
        d5.set_threads(count)
    assert d5.threads() == before
