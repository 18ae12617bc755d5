# SPDX-License-Identifier: Apache-2.0
import gc
import hashlib
import pathlib
import threading
import weakref

import numpy as np
import pytest

import d5


class Squares(d5.Dataset):
    """Sample i is i squared, and noise that knows the draw."""

    def __init__(self, size=10):
        super().__init__()
        self.size = size

    def __len__(self):
        return self.size

    def fields(self):
        return {"x": ("float32", [2]), "label": ("int64", []), "text": ("string", [])}

    def read(self, index, seed, epoch):
        x = np.array([index**2, 100 * seed + epoch], dtype=np.float32)
        return {"x": x, "label": index % 3, "text": f"sample {index}"}


def test_a_data_set_in_python_is_drawn_from_like_any_other():
    sampler = d5.sampler("ordered", Squares(), batch_size=4)
    gc.collect()  # nobody in Python holds the data set
    assert len(sampler) == 3
    batch = sampler.next()
    np.testing.assert_array_equal(np.asarray(batch.values["x"].numpy())[:, 0], [0, 1, 4, 9])
    np.testing.assert_array_equal(batch.values["label"].numpy(), [0, 1, 2, 0])


def test_reading_knows_seed_and_epoch():
    data = Squares()
    assert data.sample(3, seed=2, epoch=5)["x"].numpy().tolist() == [9, 205]
    assert data[-1]["x"].numpy().tolist() == [81, 0]
    with pytest.raises(IndexError):
        data[10]


def test_it_is_named_after_its_class_and_tells_its_labels():
    data = Squares(4)
    assert data.name == "Squares"
    assert data.labels() == [0, 1, 2, 0]
    assert "4 samples of x float32 2" in repr(data)


def test_what_it_lacks_or_gives_wrong_is_told():
    class Bare(d5.Dataset):
        def __len__(self):
            return 1

    with pytest.raises(d5.TypeError, match="Bare has no method fields"):
        Bare().sample(0)

    class Wrong(Squares):
        def read(self, index, seed, epoch):
            return {"x": np.zeros(3, np.float32), "label": 0, "text": ""}

    with pytest.raises(d5.ShapeError):
        Wrong()[0]

    class Missing(Squares):
        def read(self, index, seed, epoch):
            return {}

    with pytest.raises(d5.NotFound, match="no field 'x'"):
        Missing()[0]

    class Raising(Squares):
        def read(self, index, seed, epoch):
            raise RuntimeError("broken here")

    with pytest.raises(RuntimeError, match="broken here"):
        Raising()[0]


def test_built_in_sets_have_fields_labels_and_names():
    assert {"mnist", "synthetic", "text"} <= set(d5.datasets())
    data = d5.dataset("synthetic", fields="x float32 2x3 normal, label int64 below 4", size=8).train
    assert data.fields() == {"x": ("float32", [2, 3]), "label": ("int64", [])}
    assert len(data.labels()) == 8
    assert data.sample_name(3) == "3"


@pytest.mark.parametrize("ending", ["safetensors", "tar", "tfrecord"])
def test_a_data_set_in_python_is_written_into_files_and_read_from_them(tmp_path, ending):
    path = tmp_path / f"squares.{ending}"
    files = d5.convert(Squares(), path, shards=3)
    assert [file.samples for file in files] == [4, 3, 3]
    for file in files:
        content = pathlib.Path(file.path).read_bytes()
        assert file.bytes == len(content)
        assert file.sha256 == hashlib.sha256(content).hexdigest()
    data = d5.open_container(path)
    assert data.fields() == Squares().fields()
    assert data[3]["x"].numpy().tolist() == [9, 0]
    assert data[3]["text"].item() == "sample 3"
    assert len(d5.dataset("container", train=path, validation=0.2).test) == 2
    assert d5.container_of(path) in d5.containers()


def test_options_of_containers_are_keywords_and_unfit_ones_are_refused(tmp_path):
    d5.convert(Squares(), tmp_path / "a.tar")
    chosen = d5.open_container(tmp_path / "a.tar", fields="label.cls,text")
    assert list(chosen.fields()) == ["label.cls", "text"]
    nested = d5.dataset("container", train=tmp_path / "a.tar", format={"fields": "label.cls"})
    assert nested.train.labels("label.cls") == Squares().labels()
    with pytest.raises(d5.NotFound, match="feelds"):
        d5.open_container(tmp_path / "a.tar", feelds="x")
    with pytest.raises(d5.ValueError, match="shards"):
        d5.convert(Squares(), tmp_path / "b.tar", shards=2, shard_samples=1)
    packed = d5.convert(Squares(), tmp_path / "b.npz", compression="deflate")
    assert packed[0].bytes < d5.convert(Squares(), tmp_path / "c.npz")[0].bytes


def test_steps_are_lists_and_dicts():
    images = "image uint8 8x8x3 below 256"
    data = d5.dataset(
        "synthetic", fields=images, steps=[{"name": "resize", "height": 4, "width": 2}, "to_tensor"]
    )
    assert data.train.fields() == {"image": ("float32", [3, 4, 2])}
    scaled = d5.dataset(
        "synthetic",
        fields=images,
        steps=[{"name": "normalise", "mean": [0.5, 0.5, 0.5], "deviation": (1, 1, 1)}],
    )
    assert abs(scaled.train[0]["image"].numpy()).max() <= 0.5


def read_ahead(data, threads):
    sampler = d5.sampler("ordered", data, batch_size=4)
    sampler.read_ahead(threads)
    assert sampler.next().index == 0
    return sampler


def test_a_sampler_may_be_dropped_while_threads_read_a_data_set_in_python():
    class Slow(Squares):
        def read(self, index, seed, epoch):
            threading.Event().wait(0.001)
            return super().read(index, seed, epoch)

    for _ in range(20):
        read_ahead(Slow(100), 3)


def test_a_thread_that_reads_a_data_set_in_python_may_be_the_one_that_drops_the_sampler():
    given, ended, held = threading.Event(), threading.Event(), []

    class Holder(Squares):
        def read(self, index, seed, epoch):
            if index >= 8:  # behind the batch that the sampler is made with, and the next
                given.wait(20)
                held.clear()
            return super().read(index, seed, epoch)

    held.append(read_ahead(Holder(100), 1))
    weakref.finalize(held[0], ended.set)
    given.set()
    assert ended.wait(20)


def test_a_data_set_may_not_ask_the_sampler_that_reads_it_ahead():
    given = threading.Event()

    class Asking(Squares):
        def read(self, index, seed, epoch):
            if index == 8:
                given.wait(20)  # a thread reads ahead before the sampler has its name
                sampler().next()
            return super().read(index, seed, epoch)

    held = read_ahead(Asking(100), 1)
    sampler = weakref.ref(held)
    given.set()
    held.next()
    with pytest.raises(ValueError, match=r"its read\(\) asked for a batch|is at work in another thread"):
        held.next()


@pytest.mark.parametrize("option", ["train_samples", "test_samples"])
def test_more_samples_than_there_are_is_refused(option):
    with pytest.raises(d5.ValueError, match=f"data set 'mnist.*': {option} is 10000000, but it has [0-9]+ samples; 0 takes all"):
        d5.dataset("mnist", subset="sample", **{option: 10**7})
