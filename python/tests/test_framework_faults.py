# SPDX-License-Identifier: Apache-2.0
"""What frameworks written in Python refuse, and what becomes of those that do wrong."""

import os
import signal

import d5
import numpy as np
import pytest
from small_frameworks import ONE, X, Relu, framework_of, perceptron, relu_of


def test_what_a_kernel_refuses_goes_to_the_next_or_says_why():
    with pytest.raises(d5.Unsupported, match="numpy: element type int32"):
        relu_of("numpy", dtype="int32").inference({"x": np.array([-1, 2], np.int32)})
    y = relu_of("numpy", "reference", dtype="int32").inference({"x": np.array([-1, 2], np.int32)})
    assert y["y"].numpy().tolist() == [0, 2]
    (row,) = d5.test_forward("Sin 3", "numpy")
    assert row.status == "unsupported"
    only_forward = framework_of(Relu=lambda inputs: np.maximum(inputs[0], 0))
    (row,) = d5.test_gradient("Relu 3", only_forward)
    assert row.status == "unsupported" and "has no backward" in row.reason
    executor = d5.executor(perceptron(), [only_forward, "reference"])
    assert executor.inference_and_backprop({"x": X})["loss"].item() > 0


@pytest.mark.parametrize(
    "result, error, message",
    [
        (np.zeros(3, np.float32), d5.ShapeError, r"returned float32 3 as output 0, expected .*2"),
        (np.zeros(2), d5.TypeError, "returned float64 2 as output 0, expected float32 2"),
        ((np.zeros(2, np.float32),) * 2, d5.ShapeError, "returned 2 outputs, expected 1"),
        (None, d5.ValueError, "returned None as output 0"),
        ("words", d5.TypeError, "string"),
    ],
)
def test_a_wrong_result_is_named(result, error, message):
    name = framework_of(Relu=lambda inputs: result)
    with pytest.raises(error, match=message) as raised:
        relu_of(name).inference(ONE)
    assert f"Relu 'r': {name}: " in str(raised.value)


def test_a_result_that_is_nan_fails_its_test():
    name = framework_of(Relu=lambda inputs: inputs[0].numpy() * np.float32(np.nan))
    (row,) = d5.test_forward("Relu 3", name)
    assert row.status == "failed" and "nan" in row.reason.lower()


def test_a_kernel_that_changes_its_input_fails():
    here = True

    def doubled(inputs):
        x = inputs[0].numpy()
        if here:
            x *= 2
        return np.maximum(x, 0)

    (row,) = d5.test_forward("Relu 3", framework_of(Relu=doubled))
    assert row.status == "failed" and "output array is read-only" in row.reason
    here = False  # other tests run "auto", which tries every framework that is there


def test_an_exception_is_a_typed_error_with_what_raised_it():
    def fail(inputs):
        return 1 / 0

    name = framework_of(Relu=fail)
    with pytest.raises(d5.Error, match="ZeroDivisionError: division by zero") as raised:
        relu_of(name).inference(ONE)
    assert f"Relu 'r': {name}" in str(raised.value)
    assert "test_framework_faults.py:" in str(raised.value)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    (row,) = d5.test_forward("Relu 3", name)
    assert row.status == "failed" and "division by zero" in row.reason

    def numeric(inputs):
        raise d5.NumericError("the sum overflows")

    with pytest.raises(d5.NumericError, match="the sum overflows"):
        relu_of(framework_of(Relu=numeric)).inference(ONE)

    class NoPlan(d5.Kernel):
        def __init__(self, plan):
            raise KeyError("perm")

    with pytest.raises(d5.Error, match="KeyError: 'perm'"):
        relu_of(framework_of(Relu=NoPlan)).inference(ONE)


def test_ctrl_c_within_a_kernel_ends_the_run():
    here = True

    def interrupt(inputs):
        if here:
            raise KeyboardInterrupt
        return np.maximum(inputs[0], 0)

    def signal_and_return(inputs):
        if here:
            os.kill(os.getpid(), signal.SIGINT)
        return np.maximum(inputs[0], 0)

    for kernel in (interrupt, signal_and_return):
        with pytest.raises(KeyboardInterrupt):
            relu_of(framework_of(Relu=kernel)).inference(ONE)
    with pytest.raises(KeyboardInterrupt):
        d5.test_forward("Relu 3", framework_of(Relu=interrupt))
    here = False  # other tests run "auto", which tries every framework that is there


def test_what_is_no_framework_is_refused():
    def add(**parts):
        base = {"name": "refused", "version": "1", "kernels": {"Relu": Relu}}
        d5.register(type("Refused", (d5.Framework,), {**base, **parts}))

    wrong: list[tuple[dict[str, object], str]] = [
        ({"name": ""}, "name is ''"),
        ({"name": "a+b"}, "'a\\+b' is no name"),
        ({"name": "reference"}, "'reference' is there already"),
        ({"version": None}, "version is None"),
        ({"kernels": {}}, "without kernels"),
        ({"kernels": {}, "executors": {}}, "without kernels"),
    ]
    for parts, message in wrong:
        with pytest.raises(d5.ValueError, match=message):
            add(**parts)
    with pytest.raises(d5.TypeError, match="kernels is {'Relu': 3}"):
        add(kernels={"Relu": 3})
    with pytest.raises(d5.TypeError, match="executors is {'whole': 3}"):
        add(executors={"whole": 3})
    assert "refused" not in d5.frameworks()
