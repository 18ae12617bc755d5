# SPDX-License-Identifier: Apache-2.0
"""Arrays of another type or shape, empty ones, objects and None, in every call that takes arrays: an error of
d5's that says what was expected, or a failed row."""

import numpy as np
import pytest

import d5

WRONG = {
    "dtype": np.zeros((1, 1, 28, 28), np.complex128),
    "shape": np.zeros(3, np.float32),
    "empty": np.zeros(0, np.float32),
    "objects": np.array([object()]),
    "none": None,
}


@pytest.fixture(scope="module")
def executor():
    return d5.executor(d5.model("lenet", with_loss=True))


def fed(image):
    return {"image": image, "label": np.zeros(1, np.int64)}


CALLS = {
    "inference": lambda executor, array: executor.inference(fed(array)),
    "inference_and_backprop": lambda executor, array: executor.inference_and_backprop(fed(array)),
    "forward": lambda executor, array: executor.forward(fed(array), ["loss"]),
    "step": lambda executor, array: d5.optimizer("sgd", executor).step(fed(array)),
    "plan_memory": lambda executor, array: d5.plan_memory(executor, fed(array)),
    "run_network": lambda executor, array: d5.run_network("lenet", {"image": array}),
    "feed": lambda executor, array: executor.network.feed("fc3.weight", array),
    "value": lambda executor, array: setattr(executor.network.parameters["fc3.weight"], "value", array),
    "copy_from": lambda executor, array: d5.Tensor(np.zeros(4, np.float32)).copy_from(array),
    "count_right": lambda executor, array: d5.count_right(array, np.zeros(1, np.int64)),
    "absolute_difference": lambda executor, array: d5.absolute_difference(array, np.zeros((2, 2), np.float32)),
}
JUDGED = {
    "test_executor": lambda executor, array: d5.test_executor(executor, executor, fed(array)),
    "test_numeric_gradients": lambda executor, array: d5.test_numeric_gradients(executor, fed(array)),
}


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_array_is_refused_with_what_is_expected(executor, name, fault):
    with pytest.raises(d5.Error) as told:
        CALLS[name](executor, WRONG[fault])
    text = str(told.value)
    assert "\n" not in text and any(word in text for word in ("expected", "float32", "give one"))


@pytest.mark.parametrize("fault", ["dtype", "shape", "empty", "none"])
@pytest.mark.parametrize("name", JUDGED)
def test_a_judge_of_a_wrong_array_says_so_in_a_row(executor, name, fault):
    rows = JUDGED[name](executor, WRONG[fault])
    assert rows and not rows.where(status="passed")
    assert all("image" in row.reason for row in rows)
