# SPDX-License-Identifier: Apache-2.0
"""What "auto" chose, what frameworks have, and the words that stand for several of them. Runs before the tests that add
frameworks by the dozen, which "auto" would all measure."""

import math

import numpy as np
import pytest

import d5

X = {"x": np.array([-1, 2], np.float32)}


class Relu(d5.Kernel):
    def __init__(self, plan):
        pass

    def forward(self, inputs):
        return np.maximum(inputs[0], 0)


@d5.register
class Rival(d5.Framework):
    name, version = "rival", "1"
    kernels = {"Relu": Relu}


def network():
    network = d5.Network("two")
    network.add_input("x", "float32", [2])
    network.add_node("Relu", ["x"], ["h"], name="relu")
    network.add_node("Neg", ["h"], ["y"], name="neg")
    network.add_output("y")
    return network


@pytest.fixture
def chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("D5_CACHE_DIR", str(tmp_path))
    executor = d5.executor(network(), ["auto"])
    assert executor.inference(X)["y"].numpy().tolist() == [0, -2]
    return d5.framework_selection(executor)


def test_auto_tells_what_it_chose_and_how_sure_it_is(chosen):
    assert not chosen.kept and chosen.measuring_seconds > 0
    assert [node.name for node in chosen.nodes] == ["relu", "neg"]
    assert {node.framework for node in chosen.nodes} <= set(d5.frameworks())
    relu = chosen.nodes[0]
    assert relu.runner_up and relu.runner_up != relu.framework  # at least two can run it
    low, high = relu.interval
    assert relu.ratio > 0 and (math.isnan(low) or low <= relu.ratio <= high)
    # Empty where one alone was not hopelessly slow.
    assert [way.seconds for way in chosen.ways] == sorted(way.seconds for way in chosen.ways)
    assert [way.ratio for way in chosen.ways if way.name == chosen.chosen] == [1][: len(chosen.ways)]
    assert chosen.chosen in str(chosen) and "relu" in str(chosen)


def test_a_choice_is_kept_until_it_is_forgotten(chosen):
    def again():
        executor = d5.executor(network(), ["auto"])
        executor.inference(X)
        return d5.framework_selection(executor)

    if not any(note.startswith("chosen while other work") for note in chosen.notes):  # it is made again then
        assert again().kept and again().chosen == chosen.chosen
    assert d5.forget_selections(network()) > 0
    assert d5.forget_selections(network()) == 0
    assert not again().kept


def test_without_auto_nothing_was_chosen():
    executor = d5.executor(network(), ["reference"])
    executor.inference(X)
    selection = d5.framework_selection(executor)
    assert selection.chosen == "" and selection.nodes == []


def test_all_stands_for_what_can_be_loaded():
    assert d5.framework_words(["rival", "reference"]) == ["rival", "reference"]
    words = d5.framework_words(["rival", "all"])
    assert words[0] == "rival" and "reference" in words and len(words) == len(set(words))
    assert set(words) <= set(d5.frameworks())
    assert d5.executor_words(["reference"]) == ["reference"]


def test_what_frameworks_have_of_operators_is_told():
    rows = d5.supported_operators(["rival", "reference"])
    assert "Relu" in [row.name for row in rows if row.framework == "rival"]
    (conv,) = [row for row in rows if row.name == "Conv"]
    assert conv.framework == "reference" and 0 < conv.passed <= conv.cases
    assert "float32" in conv.types and "float64" in conv.gradient_types
    matrix = d5.operator_matrix(rows)
    (line,) = [line for line in matrix.splitlines() if line.split()[:1] == ["Relu"]]
    assert "yes" in line
    assert {row.framework for row in d5.supported_operators()} >= {"rival", "reference"}
    with pytest.raises(d5.NotFound):
        d5.supported_operators(["no-such"])
