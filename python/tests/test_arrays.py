# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out: DLPack's version 1, buffers, read-only memory, NumPy's functions."""

import array
import gc

import numpy as np
import pytest

import d5


def test_a_read_only_array_is_shared_read_only():
    numbers = np.arange(4, dtype=np.float32)
    numbers.flags.writeable = False
    tensor = d5.Tensor(numbers)
    assert tensor.read_only and np.shares_memory(tensor.numpy(), numbers)
    with pytest.raises(ValueError, match="read-only"):
        tensor.numpy()[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tensor[0] = 1
    with pytest.raises(d5.TypeError, match=r"float32 4 is read-only.*copy\(\)"):
        tensor.copy_from(np.zeros(4, np.float32))
    with pytest.raises(d5.TypeError, match="read-only"):
        d5.world().all_reduce(tensor)
    own = tensor.copy()
    own[0] = 5
    assert own[0] == 5 and numbers[0] == 0


def test_bytes_are_read_without_a_copy():
    tensor = d5.Tensor(memoryview(b"\x01\x02\x03"))
    assert (tensor.dtype, tensor.read_only, tensor.numpy().tolist()) == ("uint8", True, [1, 2, 3])


def test_a_network_is_fed_a_read_only_array_where_it_lies():
    network = d5.Network("same")
    network.add_input("x", "float32", [3])
    network.add_node("Identity", ["x"], ["y"])
    network.add_output("y")
    x = np.frombuffer(np.arange(3, dtype=np.float32).tobytes(), np.float32)  # read-only
    assert d5.executor(network).inference({"x": x})["y"].numpy().tolist() == [0, 1, 2]


def test_what_a_network_keeps_of_a_read_only_array_is_its_own():
    value = np.ones(2, np.float32)
    value.flags.writeable = False
    network = d5.Network("kept")
    network.add_constant("c", value)
    network.feed("c", np.zeros(2, np.float32))
    assert value.tolist() == [1, 1] and network.fetch("c").numpy().tolist() == [0, 0]


@pytest.mark.parametrize("numbers", [np.arange(12, dtype=">i4").reshape(3, 4), np.arange(12.0).reshape(3, 4)[:, ::2]])
def test_what_is_not_dense_or_of_another_order_is_copied_and_right(numbers):
    tensor = d5.Tensor(numbers)
    assert tensor.numpy().tolist() == numbers.tolist() and not np.shares_memory(tensor.numpy(), numbers)


def test_an_array_that_does_not_lie_at_its_elements_is_copied():
    odd = np.frombuffer(b"\x00" + np.array([1.5, 2.5]).tobytes(), np.float64, offset=1)
    assert d5.Tensor(odd).numpy().tolist() == [1.5, 2.5]


@pytest.mark.parametrize("kind", ["datetime64[s]", "longdouble"])
def test_a_type_that_d5_lacks_is_refused(kind):
    with pytest.raises(d5.TypeError, match="cannot become a tensor"):
        d5.Tensor(np.zeros(2, kind))


class Recorder:
    """A consumer's view of a producer: what it asked for."""

    def __init__(self, tensor):
        self.tensor, self.asked = tensor, {}

    def __dlpack__(self, **asked):
        self.asked = asked
        return self.tensor.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_d5_asks_for_dlpacks_version_1():
    producer = Recorder(d5.Tensor(np.arange(3)))
    assert d5.Tensor(producer).numpy().tolist() == [0, 1, 2]
    assert producer.asked["max_version"] == (1, 1)


def test_d5_takes_what_was_written_before_versions():
    class Old:
        def __dlpack__(self):
            return d5.Tensor(np.arange(3)).__dlpack__()

    assert d5.Tensor(Old()).numpy().tolist() == [0, 1, 2]


def test_read_only_memory_stays_so_through_dlpack():
    numbers = np.arange(3)
    numbers.flags.writeable = False
    tensor = d5.Tensor(Recorder(numbers))  # NumPy says it in version 1 alone
    assert tensor.read_only and np.shares_memory(tensor.numpy(), numbers)
    back = np.from_dlpack(tensor)
    assert not back.flags.writeable and np.shares_memory(back, numbers)
    with pytest.raises(BufferError, match="max_version"):
        tensor.__dlpack__()
    d5.Tensor(numbers.copy()).__dlpack__()


def test_a_copy_is_given_where_one_is_asked_for():
    tensor = d5.Tensor(np.arange(3))
    copied = np.from_dlpack(tensor, copy=True)
    assert not np.shares_memory(copied, tensor.numpy()) and copied.tolist() == [0, 1, 2]
    assert np.shares_memory(np.from_dlpack(tensor, copy=False), tensor.numpy())
    assert np.shares_memory(np.from_dlpack(tensor, device="cpu"), tensor.numpy())


def test_what_dlpack_cannot_do_is_a_buffer_error():
    tensor = d5.Tensor(np.arange(3))
    with pytest.raises(BufferError, match="stream"):
        tensor.__dlpack__(stream=1, max_version=(1, 0))
    with pytest.raises(BufferError, match="without a copy"):
        tensor.__dlpack__(dl_device=(2, 0), copy=False, max_version=(1, 0))
    with pytest.raises(d5.TypeError, match="capsule"):

        class Twice:
            capsule = tensor.__dlpack__()

            def __dlpack__(self, **asked):
                return self.capsule

        d5.Tensor(Twice())
        d5.Tensor(Twice())


def test_a_capsule_that_nobody_takes_frees_its_tensor():
    class Owner(np.ndarray):
        gone = 0

        def __del__(self):
            Owner.gone += self.base is not None

    for version in (None, (1, 0)):
        before = Owner.gone
        tensor = d5.Tensor(np.arange(4).view(Owner))
        capsule = tensor.__dlpack__(max_version=version)
        del tensor
        assert Owner.gone == before
        del capsule
        gc.collect()
        assert Owner.gone == before + 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
def test_a_tensor_is_a_buffer(dtype):
    numbers = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    view = memoryview(d5.Tensor(numbers))
    assert (view.shape, view.strides, view.readonly) == (numbers.shape, numbers.strides, False)
    back = np.asarray(view)
    assert back.dtype == numbers.dtype and np.shares_memory(back, numbers)


def test_a_read_only_tensor_is_a_read_only_buffer():
    view = memoryview(d5.Tensor(b"ab"[:0] + np.array([7], np.uint8).tobytes() and memoryview(b"\x07")))
    assert view.readonly and bytes(view) == b"\x07"


def test_other_buffers_are_shared():
    numbers = array.array("d", [1, 2])
    tensor = d5.Tensor(numbers)
    tensor[1] = 5
    assert numbers[1] == 5


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e8m0fnu"])
def test_types_of_ml_dtypes_go_there_and_back(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    numbers = np.array([1, 2, 4], getattr(ml_dtypes, name))
    tensor = d5.Tensor(numbers)
    assert tensor.dtype == getattr(ml_dtypes, name)
    back = tensor.numpy()
    assert back.dtype == numbers.dtype and np.shares_memory(back, numbers)
    with pytest.raises(BufferError):
        memoryview(tensor)


def test_numpys_functions_take_tensors():
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = d5.Tensor(numbers)
    np.testing.assert_array_equal(np.exp(tensor), np.exp(numbers))
    np.testing.assert_array_equal(np.concatenate([tensor, tensor]), np.concatenate([numbers, numbers]))
    assert np.sum(tensor) == 15 and np.add.reduce(tensor, axis=1).tolist() == [3, 12]
    assert np.linalg.norm(tensor) == np.linalg.norm(numbers)
    np.negative(numbers.copy(), out=tensor)  # type: ignore[call-overload]
    assert numbers[1, 2] == -5


def test_operators_are_numpys_and_write_in_place():
    numbers = np.array([1.0, 2.0])
    tensor = d5.Tensor(numbers)
    assert (tensor + 1).tolist() == [2, 3] and (1 - tensor).tolist() == [0, -1]
    assert (tensor * tensor).tolist() == [1, 4] and (numbers / tensor).tolist() == [1, 1]
    assert (-tensor).tolist() == [-1, -2] and abs(-tensor).tolist() == [1, 2] and tensor @ tensor == 5
    assert (tensor > 1).tolist() == [False, True] and (tensor == numbers).all()
    same = tensor
    tensor *= 3
    assert same is tensor and numbers.tolist() == [3, 6]
    tensor[0] = 7
    assert numbers[0] == 7 and tensor.ndim == 1 and tensor.size == 2


def test_parameters_and_gradients_are_assigned_to():
    network = d5.model("lenet", seed=1)
    (bias,) = [one for one in network.parameters if one.name.endswith("fc3.bias") or one.name == "fc3.b"][:1] or [
        network.parameters[0]
    ]
    bias.value = np.full(bias.value.shape, 2, np.float32)
    bias.value *= 2
    assert (network.fetch(bias.name).numpy() == 4).all()
    with pytest.raises(d5.ShapeError):
        bias.value = np.zeros(3, np.float32)


def test_a_networks_parts_are_views():
    network = d5.model("lenet")
    nodes, parameters = network.nodes, network.parameters
    count = len(nodes)
    network.add_node("Relu", [nodes[-1].outputs[0]], ["more"], name="last")
    assert len(nodes) == count + 1 and nodes[-1].name == nodes["last"].name == "last"
    assert [node.op_type for node in nodes[:2]] == ["Conv", "Relu"]
    first = parameters[0]
    assert parameters[first.name].name == first.name and parameters[-1].name == list(parameters)[-1].name
    del network
    gc.collect()
    assert len(nodes) == count + 1 and parameters[0].value.size > 0
    with pytest.raises(IndexError, match=f"has {count + 1}"):
        nodes[count + 1]
    with pytest.raises(d5.NotFound):
        nodes["nobody"]


def test_an_executors_network_is_the_network_and_keeps_it_alive():
    executor = d5.executor(d5.model("lenet"))
    assert executor.network is executor.network
    network = executor.network
    del executor
    gc.collect()
    assert len(network.nodes) > 5
