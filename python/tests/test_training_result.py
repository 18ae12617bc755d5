# SPDX-License-Identifier: Apache-2.0
"""What d5.train takes and returns: overrides as a mapping or as texts, rows and a verdict by name."""

import pytest

import d5

FEW = {"training": {"epochs": 1, "most_batches": 2}}


def test_a_result_has_rows_and_a_verdict():
    result = d5.train("mnist-lenet-quick", overrides=FEW)
    rows, passed = result
    assert isinstance(result, d5.TrainingResult) and result.rows is rows and isinstance(rows, d5.Measurements)
    assert result.passed is passed is False  # two batches are too few
    assert "test_accuracy" in str(result) and "an acceptance criterion is missed" in str(result)
    assert "<table" in result._repr_html_()
    assert "all acceptance criteria are met" in str(d5.TrainingResult(rows, True))


def values(overrides):
    session = d5._training_result.assignments("d5.train", overrides)
    return d5.recipe("mnist-lenet-quick").changed(*session).values


def test_overrides_are_a_mapping_or_texts():
    expected = d5.recipe("mnist-lenet-quick").changed("optimizer.name=adam", "optimizer.beta1=0.5", "training.epochs=2").values
    whole = {"optimizer": {"beta1": 0.5, "name": "adam"}, "training.epochs": 2}  # the name counts first, wherever it stands
    assert values(whole) == expected
    assert values(["optimizer.name=adam", "optimizer.beta1=0.5", "training.epochs=2"]) == expected
    assert values("training.epochs=2") == values({"training": {"epochs": 2}})
    assert values({"optimizer": {"name": "momentum", "nesterov": True}})["optimizer.nesterov"] == "true"


@pytest.mark.parametrize("wrong", [3, None, [3], {"training.epochs": None}, {"training": {"epochs": [1, 2]}}])
@pytest.mark.parametrize("call", [d5.train, d5.scale])
def test_overrides_of_another_kind_are_refused(call, wrong):
    with pytest.raises(d5.TypeError, match=f"d5.{call.__name__}: (overrides|the override of 'training.epochs') is "):
        call("mnist-lenet-quick", overrides=wrong)


def test_the_former_word_still_means_it():
    with pytest.warns(DeprecationWarning, match="set= is overrides= now") as told:
        result = d5.train("mnist-lenet-quick", set=["training.epochs=1", "training.most_batches=1"])
    assert result.rows and told[0].filename == __file__
    with pytest.raises(d5.UnknownOption, match="keyword 'set'"):
        d5.predict("lenet", set=[])  # type: ignore[call-arg]  # it never had it


def test_a_keyword_that_training_has_not_is_refused():
    with pytest.raises(d5.UnknownOption, match="overides"):
        d5.train("mnist-lenet-quick", overides=FEW)
