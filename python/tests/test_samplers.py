# SPDX-License-Identifier: Apache-2.0
"""Samplers written in Python: cut among ranks, read ahead."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import d5


class Counting(d5.Sampler):
    """Batches of 5, 5 and 3 numbers."""

    def __init__(self, sizes=(5, 5, 3)):
        super().__init__()
        self.sizes, self.asked, self.threads = sizes, 0, set()
        self.buffer = np.zeros(max(sizes), np.float32)
        self.reset()

    def reset(self, epoch=0):
        self.place, self.first = 0, 100.0 * epoch

    def next(self):
        self.threads.add(threading.get_ident())
        if self.place == len(self.sizes):
            return None
        size = self.sizes[self.place]
        self.place, self.asked = self.place + 1, self.asked + 1
        self.buffer[:size] = self.first + np.arange(size)  # a loader that uses its memory again
        self.first += size
        return {"x": self.buffer[:size]}

    def samples(self):
        return (self.first - self.sizes[self.place - 1] + np.arange(self.sizes[self.place - 1])).astype(int).tolist()

    def __len__(self):
        return len(self.sizes)


def next_of(sampler):
    """As d5 asks for it; `sampler.next()` is the class's own."""
    return d5.Sampler.next(sampler)


def epoch_of(sampler):
    return [batch.values["x"].numpy().tolist() for batch in iter(lambda: next_of(sampler), None)]


WHOLE = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12]]


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_ranks_get_a_part_of_each_batch(threads):
    for rank, parts in ((0, [[0, 1, 2], [5, 6, 7], [10, 11]]), (1, [[3, 4], [8, 9], [12]])):
        sampler = Counting()
        sampler.take_part(rank, 2)
        sampler.read_ahead(threads)
        batch = next_of(sampler)
        assert (batch.size, batch.global_size, batch.index) == (3 - rank, 5, 0)
        assert batch.samples == parts[0]
        assert [batch.values["x"].numpy().tolist(), *epoch_of(sampler)] == parts
        assert d5.Sampler.__len__(sampler) == 3


@pytest.mark.parametrize("threads", [0, 1])
def test_ranks_get_batches_in_turn(threads):
    for rank, batches in ((0, [WHOLE[0], WHOLE[2]]), (1, [WHOLE[1]])):
        sampler = Counting()
        sampler.take_batches(rank, 2)
        sampler.read_ahead(threads)
        assert d5.Sampler.__len__(sampler) == len(batches) and epoch_of(sampler) == batches
        sampler.seek(0, 1)
        assert epoch_of(sampler) == batches[1:]


def test_a_batch_that_is_too_small_for_the_ranks_leaves_some_without_samples():
    for rank, last in ((0, [5]), (1, [])):
        sampler = Counting((5, 1))
        sampler.take_part(rank, 2)
        next_of(sampler)
        batch = next_of(sampler)
        assert (batch.size, batch.global_size, batch.samples) == (len(last), 1, last)
        assert [value.numpy().tolist() for value in batch.values.values()] == [last] * len(last)
    sampler = Counting((5, 1))
    for rank, ranks in ((2, 2), (-1, 2), (0, 0)):
        with pytest.raises(d5.ValueError, match="parts count from 0"):
            sampler.take_part(rank, ranks)


def test_a_class_cuts_in_its_own_way():
    class Own(Counting):
        def take_part(self, rank, ranks):
            self.sizes = (1,)

    sampler = Own()
    sampler.seek(0, 0)
    d5.Sampler.take_part(sampler, 1, 2)
    assert epoch_of(sampler) == [[0]]


@pytest.mark.parametrize("threads", [1, 3])
def test_batches_that_are_read_ahead_are_the_same(threads):
    sampler = Counting()
    sampler.read_ahead(threads)
    assert epoch_of(sampler) == WHOLE  # although the loader writes into the same memory
    assert next_of(sampler) is None
    sampler.seek(1, 0)
    assert epoch_of(sampler)[0] == [100, 101, 102, 103, 104]
    sampler.seek(0, 2)
    assert epoch_of(sampler) == WHOLE[2:]


def test_reading_ahead_is_done_by_another_thread_and_at_most_three_batches():
    sampler = Counting((2,) * 20)
    sampler.threads.clear()
    sampler.read_ahead(1)
    next_of(sampler)
    deadline = time.monotonic() + 20
    while sampler.asked < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    assert sampler.asked == 3 and threading.get_ident() not in sampler.threads
    sampler.read_ahead(0)
    sampler.seek(0, 0)
    assert len(epoch_of(sampler)) == 20 and threading.get_ident() in sampler.threads


def test_errors_come_in_their_place_and_the_next_call_tries_again():
    class Failing(Counting):
        failed = False

        def next(self):
            if self.place == 1 and not self.failed:
                self.failed = True
                raise RuntimeError("no disk")
            return super().next()

    for threads in (0, 2):
        sampler = Failing()
        sampler.read_ahead(threads)
        assert next_of(sampler).values["x"].numpy().tolist() == WHOLE[0]
        with pytest.raises(RuntimeError, match="no disk"):
            next_of(sampler)
        assert epoch_of(sampler) == WHOLE[1:]


def test_a_sampler_that_reads_ahead_may_be_dropped():
    for _ in range(20):
        sampler = Counting((3,) * 50)
        sampler.read_ahead(2)
        next_of(sampler)
        del sampler


def test_the_thread_that_reads_may_be_the_one_that_drops_the_sampler():
    reads, dropped, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow(Counting):
        def next(self):
            if self.place == 1:
                reads.set()
                dropped.wait(20)
            return super().next()

    sampler = Slow()
    weakref.finalize(sampler, ended.set)
    sampler.read_ahead(1)
    next_of(sampler)
    reads.wait(20)
    del sampler  # the thread within next() has the last reference
    gc.collect()
    assert not ended.is_set()
    dropped.set()
    assert ended.wait(20)


@pytest.mark.parametrize("change", [("reset", 0), ("seek", 0, 0), ("take_part", 0, 2), ("read_ahead", 0)])
def test_a_sampler_that_is_read_ahead_may_not_be_moved_by_its_own_next(change):
    given, tried = threading.Event(), threading.Event()

    class Moving(Counting):
        def next(self):
            if self.place == 1:
                given.wait(20)
                try:
                    getattr(d5.Sampler, change[0])(self, *change[1:])
                finally:
                    tried.set()
            return super().next()

    sampler = Moving()
    sampler.read_ahead(1)
    next_of(sampler)
    given.set()
    assert tried.wait(20)
    with pytest.raises(ValueError, match=r"sampler Moving: its own next\(\), which a read-ahead thread calls, moved or changed it"):
        next_of(sampler)


def test_a_recipe_reads_a_sampler_in_python_ahead():
    made = []

    class Ordered(d5.Sampler):
        """As d5's."""

        def __init__(self, dataset, batch_size: int = 64):
            super().__init__()
            self.inner = d5.sampler("ordered", dataset, batch_size=batch_size)
            self.thread = set()
            made.append(self)

        def reset(self, epoch=0):
            self.inner.reset(epoch)

        def next(self):
            self.thread.add(threading.get_ident())
            batch = self.inner.next()
            return batch and batch.values

        def __len__(self):
            return len(self.inner)

    d5.register("ordered-in-python")(Ordered)
    recipe = d5.recipe("mnist-lenet-quick").changed(
        "training.epochs=1", "training.most_batches=3", "sampler.name=ordered-in-python:batch_size=32")
    expected, _ = d5.train(recipe)
    rows, _ = d5.train(recipe, loader_threads=1)
    losses = [{row.metric: row.samples for row in each}["loss"] for each in (rows, expected)]
    assert losses[0] == losses[1]
    assert any(threading.get_ident() not in one.thread for one in made if one.thread)


def test_a_batch_is_a_mapping_that_executors_take():
    from collections.abc import Mapping

    data = d5.tensor_dataset({"x": np.arange(6, dtype=np.float32).reshape(3, 2), "label": np.arange(3)})
    batch = d5.sampler("ordered", data, batch_size=3).next()
    assert isinstance(batch, Mapping) and set(batch) == set(batch.keys()) == {"x", "label"} and len(batch) == 2
    assert "x" in batch and "y" not in batch and dict(batch)["label"].tolist() == [0, 1, 2]
    with pytest.raises(KeyError, match="'y'"):
        batch["y"]

    network = d5.Network("sum")
    network.add_input("x", "float32", ["N", 2])
    network.add_input("label", "int64", ["N"])
    network.add_node("ReduceSum", ["x"], ["y"], keepdims=0)
    network.add_node("Identity", ["label"], ["same"])
    network.add_output("y")
    network.add_output("same")
    executor = d5.executor(network)
    assert executor.inference(batch)["y"].item() == 15
    assert executor.forward(batch, ["y"]).outputs["y"].item() == 15


def test_a_loader_of_torch_reads_a_data_set():
    torch = pytest.importorskip("torch")
    import d5.torch as _  # noqa: F401

    data = d5.tensor_dataset({"x": np.arange(6, dtype=np.float32).reshape(3, 2), "label": np.arange(3)})
    first, second = torch.utils.data.DataLoader(data, batch_size=2)
    assert first["x"].tolist() == [[0, 1], [2, 3]] and first["label"].dtype == torch.int64
    assert second["x"].shape == (1, 2)
    batch = d5.sampler("ordered", data, batch_size=2).next()
    both = torch.utils.data.default_collate([batch, batch])
    assert both["x"].shape == (2, 2, 2) and both["label"].tolist() == [[0, 1], [0, 1]]


def test_each_for_is_an_epoch_and_begins_where_reset_or_seek_has_put_it():
    data = d5.tensor_dataset({"x": np.arange(40, dtype=np.float32)})
    sampler = d5.sampler("shuffle", data, batch_size=10, seed=1)
    epochs = [[batch["x"].numpy().tolist() for batch in sampler] for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2] and all(sorted(sum(epoch, [])) == list(range(40)) for epoch in epochs)
    sampler.reset(1)
    assert [batch["x"].numpy().tolist() for batch in sampler] == epochs[1]
    sampler.seek(2, 3)
    assert [(batch.epoch, batch.index) for batch in sampler] == [(2, 3)]
    assert [batch.epoch for batch in sampler] == [3] * 4
    sampler.reset(5)
    assert sampler.next().index == 0  # from here on the place counts no more
    assert [batch.epoch for batch in sampler] == [6] * 4


def test_each_for_over_a_loader_of_torch_is_an_epoch():
    torch = pytest.importorskip("torch")
    import d5.torch as d5torch

    loader = torch.utils.data.DataLoader(torch.arange(40.0), batch_size=10, shuffle=True)
    sampler = d5torch.sampler(loader, ["x"], seed=3)
    epochs = [[batch["x"].numpy().tolist() for batch in sampler] for _ in range(2)]
    assert epochs[0] != epochs[1]
    sampler.reset(0)
    assert [batch["x"].numpy().tolist() for batch in sampler] == epochs[0]
    assert [batch["x"].numpy().tolist() for batch in sampler] == epochs[1]


@pytest.mark.parametrize("length", [2, 4])
def test_an_epoch_of_another_length_than_the_class_says_is_refused(length):
    class Wrong(Counting):
        def __len__(self):
            return length

    with pytest.raises(d5.ValueError, match=f"sampler Wrong: epoch 0 had 3 batches, but __len__\\(\\) says {length}"):
        list(Wrong())
