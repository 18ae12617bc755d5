# SPDX-License-Identifier: Apache-2.0
from typing import Any

import numpy as np
import pytest

import d5


def test_numpy_shares_memory_in_both_directions():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = d5.Tensor(array)
    assert tensor.shape == (2, 3) and tensor.dtype == "float32"
    array[1, 2] = 42
    assert tensor.numpy()[1, 2] == 42
    tensor.numpy()[0, 0] = -1
    assert array[0, 0] == -1


def test_numpy_reads_a_tensor_by_dlpack_without_a_copy():
    tensor = d5.Tensor(np.zeros(3, dtype=np.int64))
    view = np.from_dlpack(tensor)
    tensor.numpy()[1] = 5
    assert view.tolist() == [0, 5, 0]


def test_torch_shares_memory_in_both_directions():
    torch = pytest.importorskip("torch")
    source = torch.arange(4, dtype=torch.float64)
    tensor = d5.Tensor(source)
    source[2] = 7
    assert tensor.numpy()[2] == 7
    back = torch.from_dlpack(tensor)
    assert back.data_ptr() == source.data_ptr()


def test_bfloat16_crosses_through_torch():
    torch = pytest.importorskip("torch")
    tensor = d5.Tensor(torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
    assert tensor.dtype == "bfloat16"
    assert torch.from_dlpack(tensor).tolist() == [1.5, -2.0]


def test_a_type_that_numpy_lacks_says_so():
    torch = pytest.importorskip("torch")
    tensor = d5.Tensor(torch.tensor([1.5], dtype=torch.bfloat16))
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(d5.Unsupported, match="bfloat16; install ml_dtypes"):
            tensor.numpy()
    else:
        assert tensor.numpy().dtype == ml_dtypes.bfloat16


def test_elements_and_scalars_are_as_of_numpy():
    tensor = d5.Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert tensor[1, 2] == 5 and [row.tolist() for row in tensor] == [[0, 1, 2], [3, 4, 5]]  # type: ignore[attr-defined]
    tensor[0][1] = 7
    assert tensor[0].tolist() == [0, 7, 2]
    with pytest.raises(IndexError):
        tensor[2]
    scalar = d5.Tensor(np.array(3.0))
    assert (int(scalar), float(scalar), bool(scalar), bool(d5.Tensor(np.array(0)))) == (3, 3.0, True, False)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tensor)


def test_the_memory_outlives_its_first_owner():
    array = d5.Tensor(np.full(1000, 3.0)).numpy()
    assert array.sum() == 3000


def test_a_transposed_array_is_copied_and_right():
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert d5.Tensor(array).numpy().tolist() == array.tolist()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "complex64"])
def test_every_numpy_type_goes_there_and_back(dtype):
    array = np.array([0, 1, 1, 0]).astype(dtype)
    back = d5.Tensor(array).numpy()
    assert back.dtype == array.dtype and (back == array).all()


def test_strings_go_there_and_back():
    assert d5.Tensor(np.array(["a", "bc"])).numpy().tolist() == ["a", "bc"]


def test_scalars_and_empty_arrays():
    assert d5.Tensor(np.float32(2.5)).item() == 2.5
    assert d5.Tensor(np.zeros((0, 3), dtype=np.float32)).shape == (0, 3)


def test_types_are_numpys():
    tensor = d5.Tensor(np.zeros((2, 3), np.float32))
    assert tensor.dtype == np.float32 and tensor.dtype == "float32" and isinstance(tensor.dtype, np.dtype)
    assert np.result_type(tensor, np.float64) == np.float64 and np.zeros(1, tensor.dtype).dtype == np.float32
    assert d5.Tensor(np.array(["a", "b"])).dtype == object
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert d5.Tensor(np.zeros(1, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


def test_types_are_given_as_text_or_as_numpys_or_torchs():
    given: list[Any] = ["float32", np.float32, np.dtype("float32")]
    try:
        import torch

        given.append(torch.float32)
    except ImportError:
        pass
    for dtype in given:
        network = d5.Network("one")
        network.add_input("x", dtype, [2])
        network.add_node("Relu", ["x"], ["y"])
        network.add_output("y")
        assert d5.executor(network).inference({"x": np.ones(2, np.float32)})["y"].dtype == np.float32
        assert d5.Tensor(np.zeros(2)).astype(dtype).dtype == np.float32
    with pytest.raises(TypeError):
        d5.Network("one").add_input("x", None, [2])  # type: ignore[arg-type, unused-ignore]
    with pytest.raises(d5.NotFound):
        d5.Network("one").add_input("x", "floot", [2])


def test_a_tensor_has_the_methods_of_an_array():
    tensor = d5.Tensor(np.arange(6, dtype=np.int64))
    assert tensor.tolist() == list(range(6)) and d5.Tensor(np.float32(2)).tolist() == 2
    for grid in (tensor.reshape(2, -1), tensor.reshape((2, 3)), tensor.reshape([2, 3])):
        assert grid.shape == (2, 3)
        grid[0, 0] = 7
        assert tensor[0] == 7  # the same memory
    assert tensor.astype(np.float64).tolist() == [7, 1, 2, 3, 4, 5]
    assert list(range(9))[d5.Tensor(np.int64(3))] == 3
    with pytest.raises(TypeError):
        list(range(9))[d5.Tensor(np.float32(3))]  # type: ignore[call-overload, unused-ignore]
    with pytest.raises(ValueError):
        tensor.reshape(4, 4)


def test_jax_takes_tensors():
    jnp = pytest.importorskip("jax.numpy")
    assert jnp.asarray(d5.Tensor(np.array([1, 2], np.float32))).tolist() == [1, 2]
