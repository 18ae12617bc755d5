# SPDX-License-Identifier: Apache-2.0
"""pickle and copy.deepcopy."""

import copy
import pickle

import numpy as np
import pytest

import d5

WAYS = [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


@pytest.mark.parametrize("again", WAYS)
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float16).reshape(2, 3),
        np.array(True),
        np.zeros((0, 3), np.int64),
        np.array([["a", "bc"], ["", "\u00e4\0\n"]]),
    ],
)
def test_a_tensor_is_copied_with_memory_of_its_own(again, array):
    tensor = d5.Tensor(array.copy())
    other = again(tensor)
    assert (other.dtype, other.shape) == (tensor.dtype, tensor.shape)
    assert other.numpy().tolist() == array.tolist()
    if array.dtype == np.float16:
        tensor.numpy()[0, 0] = 7
        assert other.numpy()[0, 0] == 0


def test_a_type_that_numpy_lacks_is_pickled():
    torch = pytest.importorskip("torch")
    tensor = d5.Tensor(torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
    assert torch.from_dlpack(pickle.loads(pickle.dumps(tensor))).tolist() == [1.5, -2.0]


def test_a_pickled_tensor_that_lies_about_its_size_is_refused():
    with pytest.raises(d5.FormatError, match="expected 8"):
        d5.Tensor.__new__(d5.Tensor).__setstate__(("float32", [2], b"1234"))


@pytest.mark.parametrize("again", WAYS)
def test_a_network_is_copied_with_values_and_roles(again):
    network = d5.model("lenet", with_loss=True, seed=4)
    network.add_constant("mean", np.array([3.0], np.float32))
    other = again(network)
    assert repr(other) == repr(network)
    assert [p.name for p in other.parameters] == [p.name for p in network.parameters]
    for mine, its in zip(network.parameters, other.parameters):
        np.testing.assert_array_equal(mine.value.numpy(), its.value.numpy())
        mine.value.numpy()[...] += 1
        assert (mine.value.numpy() != its.value.numpy()).all()
    assert other.fetch("mean").item() == 3


@pytest.mark.parametrize("again", WAYS)
def test_a_measurement_is_copied_to_the_last_sample(again):
    (row,) = d5.measure(lambda: sum(range(100)), name="sum")
    other = again(row)
    for name in ("subject", "metric", "unit", "samples", "status", "reason", "conditions", "value", "interval"):
        assert getattr(other, name) == getattr(row, name), name
    rows = again(d5.Measurements([row, row]))
    assert isinstance(rows, d5.Measurements) and rows[1].samples == row.samples


@pytest.mark.parametrize("again", WAYS)
def test_a_recipe_is_copied_with_its_changes(again):
    recipe = d5.recipe("mnist-lenet-quick")
    recipe.set("training.seed=5")
    other = again(recipe)
    assert other.values == recipe.values and other.values["training.seed"] == "5"
    assert other.command == recipe.command
    other.set("training.seed=6")
    assert recipe.values["training.seed"] == "5"
