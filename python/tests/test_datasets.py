# SPDX-License-Identifier: Apache-2.0
import gc

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
