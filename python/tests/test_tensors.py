# SPDX-License-Identifier: Apache-2.0
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
