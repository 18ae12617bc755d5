# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import d5


@pytest.fixture
def lookup(tmp_path):
    """Rows of a table of three, for N of them."""
    network = d5.Network("lookup")
    network.add_input("ids", "int64", ["N"])
    network.add_constant("table", np.array([[10], [20], [30]], np.float32))
    network.add_node("Gather", ["table", "ids"], ["rows"])
    network.add_output("rows")
    network.save(tmp_path / "lookup.onnx")
    return tmp_path / "lookup.onnx"


def test_inputs_are_arrays_paths_or_archives(lookup, tmp_path):
    ids = np.array([2, 0, 1])
    np.save(tmp_path / "ids.npy", ids)
    np.savez_compressed(tmp_path / "all.npz", ids=ids)
    for inputs in (
        {"ids": ids},
        {"ids": tmp_path / "ids.npy"},
        {"ids": str(tmp_path / "ids.npy")},
        tmp_path / "all.npz",
        [f"ids={tmp_path / 'ids.npy'}"],
    ):
        rows = d5.run_network(lookup, inputs)["rows"]
        np.testing.assert_array_equal(rows.numpy(), [[30], [10], [20]])
    assert d5.run_network(lookup)["rows"].shape == (1, 1)


def test_checks_and_benches_take_inputs(lookup):
    inputs = {"ids": np.array([2, 0, 1, 1])}
    row, *_ = d5.bench_network(lookup, inputs=inputs, samples=2)
    assert row.conditions["batch"] == 4
    (row,) = d5.check_network(lookup, inputs=inputs)
    assert "judges itself" in row.reason


def test_inputs_that_do_not_fit_are_refused(lookup, tmp_path):
    with pytest.raises(d5.TypeError, match="astype"):
        d5.run_network(lookup, {"ids": np.zeros(2, np.float32)})
    with pytest.raises(d5.NotFound, match="did you mean ids"):
        d5.run_network(lookup, {"idx": np.array([1])})
    with pytest.raises(d5.ShapeError, match="of rank 2 where 1 is expected"):
        d5.run_network(lookup, {"ids": np.array([[1]])})
    with pytest.raises(d5.IoError, match="is a folder"):
        d5.run_network(lookup, tmp_path)
    with pytest.raises(d5.TypeError, match="a int, expected arrays by name"):
        d5.run_network(lookup, 3)
    np.savez(tmp_path / "objects.npz", ids=np.array([{}, None], object))
    with pytest.raises(d5.Unsupported, match="a pickle, which is never run"):
        d5.run_network(lookup, tmp_path / "objects.npz")


def test_a_lookup_is_fed_what_lies_in_its_table(lookup):
    for seed in range(4):
        assert d5.run_network(lookup, batch=64, seed=seed)["rows"].shape == (64, 1)
