# SPDX-License-Identifier: Apache-2.0
"""Recipes of dicts with mistakes: the error says the place in the dict, and what belongs there."""

import pathlib
import pickle
from typing import Any

import numpy as np
import pytest
from rank_jobs import alone

import d5

made_of = d5.Recipe


def parts(test_size=20, **more) -> dict[str, Any]:
    """A training of a few batches; `more` are entries of its mutable part."""
    return {
        "name": "tiny",
        "fixed": {
            "dataset": {"name": "synthetic", "size": 32, "test_size": test_size,
                        "fields": "image float32 1x28x28 normal, label int64 below 10"},
            "model": {"name": "lenet"},
        },
        "mutable": {"optimizer": {"name": "sgd"}, "training": {"epochs": 1, "most_batches": 2, "seed": 1}, **more},
    }  # fmt: skip


def refused(error, text, content=None, **more):
    with pytest.raises(error, match=text) as told:
        made_of(content or parts(**more))
    assert "\n" not in str(told.value)


MISPLACED: dict[str, Any] = {
    "training.batch_size": ({"training": {"batch_size": 8}}, "sampler.batch_size"),
    "training.learning_rate": ({"training": {"learning_rate": 0.1}}, "optimizer.learning_rate"),
    "optimizer.epochs": ({"optimizer": {"name": "sgd", "epochs": 2}}, "training.epochs"),
    "optimizer.batch_size": ({"optimizer": {"name": "adam", "batch_size": 2}}, "sampler.batch_size"),
    "sampler.test_batch_size": ({"sampler": {"test_batch_size": 2}}, "training.test_batch_size"),
}


@pytest.mark.parametrize("key", MISPLACED)
def test_an_option_below_another_section_is_answered_with_its_own(key):
    more, owner = MISPLACED[key]
    section, option = key.split(".")
    refused(d5.UnknownOption, f"^recipe:mutable.{key}: {section}: option '{option}' is unknown; did you mean {owner}\\?", **more)


def test_the_same_in_a_file_is_answered_with_its_line():
    text = "name: tiny\nfixed: {dataset: {name: mnist}, model: {name: lenet}}\nmutable:\n  optimizer: {name: sgd}\n  training: {batch_size: 8}\n"
    with pytest.raises(d5.UnknownOption, match=r"^mine.yaml:5: training: option 'batch_size' is unknown; did you mean sampler.batch_size\?"):
        made_of(text, file="mine.yaml")


@pytest.mark.parametrize(
    "content, text",
    [
        ({**parts(), "mutabel": {}}, "^recipe:mutabel: key 'mutabel' is unknown; did you mean mutable"),
        (parts(trainig={"epochs": 1}), "^recipe:mutable.trainig: section 'trainig' is unknown; did you mean training"),
        (parts(training={"epoch": 1}), "^recipe:mutable.training.epoch: training: option 'epoch' is unknown; did you mean epochs"),
        (parts(training={"epochs": {"of": 1}}), "^recipe:mutable.training.epochs: 'training.epochs' is a map"),
        (parts(training={"epochs": None}), "^recipe:mutable.training.epochs is None; expected a text, a number, a flag, or a list or dict"),
        (parts(training={"epochs": object()}), "^recipe:mutable.training.epochs is <object"),
        ({**parts(), "acceptable": {"loss": {"at_mots": 1}}}, "^recipe:acceptable.loss.at_mots: key of loss 'at_mots'"),
        ({**parts(), "acceptable": {"loss": {"at_most": "1"}}}, "^recipe:acceptable.loss.at_most: 'at_most' is the text '1', expected a number"),
        ({**parts(), "ranges": {"optimizer.learning_rate": {"least": 2, "most": 1}}}, "^recipe:ranges.optimizer.learning_rate: "),
        ({"name": "tiny"}, "^recipe: has no 'dataset.name'"),
    ],
)
def test_a_mistake_in_a_dict_is_told_with_its_place(content, text):
    refused(d5.Error, text, content)


def test_a_mistake_that_a_part_finds_is_told_with_its_place():
    recipe = made_of(parts(optimizer={"name": "sgd", "learning_rte": 0.1}), file="mine")
    with pytest.raises(d5.UnknownOption, match="^mine:mutable.optimizer.learning_rte: optimizer sgd: option 'learning_rte'"):
        d5.TrainingSession(recipe)
    again = pickle.loads(pickle.dumps(recipe))
    with pytest.raises(d5.UnknownOption, match="^mine:mutable.optimizer.learning_rte"):
        d5.TrainingSession(again)
    with pytest.raises(d5.ValueError, match=r"'model.name' is fixed \(mine:fixed.model.name\)"):
        recipe.set("model.name=alexnet")


TEXTS: dict[str, Any] = {
    "integer": ({"training": {"epochs": "3"}}, "epochs is the text '3', expected an integer"),
    "number": ({"optimizer": {"name": "sgd", "learning_rate": "0.1"}}, "learning_rate is the text '0.1', expected a number"),
    "flag": ({"optimizer": {"name": "momentum", "nesterov": "true"}}, "nesterov is the text 'true', expected true or false"),
    "sampler": ({"sampler": {"batch_size": "2"}}, "batch_size is the text '2', expected an integer"),
    "metric": ({"metrics": {"time_to_accuracy": {"target": "0.9"}}}, "target is the text '0.9', expected a number"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_text_in_place_of_a_number_is_refused(what):
    more, text = TEXTS[what]
    refused(d5.TypeError, text, **more)


def test_numbers_of_numpy_and_paths_are_taken():
    recipe = made_of(parts(training={"epochs": np.int64(2), "seed": np.uint8(3)}, optimizer={"name": "sgd", "learning_rate": np.float32(0.5)}))
    assert (recipe.values["training.epochs"], recipe.values["training.seed"], recipe.values["optimizer.learning_rate"]) == ("2", "3", "0.5")
    content = parts()
    content["fixed"]["dataset"] = {"name": "images", "data": pathlib.Path("some") / "folder"}
    assert made_of(content).values["dataset.data"] == "some/folder"


@alone("each would train by itself, which is refused")
def test_overrides_follow_the_same_rules():
    recipe = made_of(parts())
    wrong: dict[str, Any] = {
        "number": ({"training.epochs": "2"}, "d5.train: the override of 'training.epochs' is '2', expected int"),
        "nested": ({"optimizer": {"name": "adam", "learning_rate": "0.1"}}, "'optimizer.learning_rate' is '0.1', expected float"),
        "none": ({"training": {"seed": None}}, "the override of 'training.seed' is None, expected|; expected a text"),
    }
    for overrides, text in wrong.values():
        with pytest.raises(d5.TypeError, match=text):
            d5.train(recipe, overrides=overrides)
    with pytest.raises(d5.TypeError, match="d5.scale: the override of 'training.epochs' is '2', expected int"):
        d5.scale(recipe, overrides={"training.epochs": "2"})
    then = {"name": "polynomial", "power": "2"}
    nested = {"optimizer": {"schedules": {"learning_rate": {"name": "warmup", "length": 2, "then": then}}}}
    with pytest.raises(d5.TypeError, match="power is the text '2', expected a number"):
        d5.train(recipe, overrides=nested)
    with pytest.raises(d5.NotFound, match=r"did you mean sampler.batch_size\?"):
        d5.train(recipe, overrides={"training.batch_size": 2})
    assert d5.train(recipe, overrides={"training": {"most_batches": np.int64(1), "seed": np.uint8(4)}}).rows[0].conditions["seed"] == 4


TESTED = ["test_accuracy", "test_loss", "perplexity", "top_k_accuracy", "time_to_accuracy", "samples_to_accuracy"]


@pytest.mark.parametrize("metric", TESTED)
@alone("each would train by itself, which is refused")
def test_a_metric_of_tests_without_test_data_is_refused_before_training(metric):
    for more in ({"metrics": {metric: {}}}, {"acceptable": {metric: {"at_least": 0.5}}}):
        content = parts(test_size=0, **{key: value for key, value in more.items() if key == "metrics"})
        recipe = made_of({**content, **{key: value for key, value in more.items() if key != "metrics"}})
        with pytest.raises(d5.ValueError, match=f"metric {metric}: there are no test data"):
            d5.TrainingSession(recipe)


@alone("each would train by itself, which is refused")
def test_without_test_data_the_usual_metrics_are_those_of_the_training():
    assert {row.metric for row in d5.train(made_of(parts(test_size=0))).rows} == {"training_accuracy", "loss", "epoch_time", "batch_time"}
    assert "test_accuracy" in {row.metric for row in d5.train(made_of(parts())).rows}


@alone("each would train by itself, which is refused")
def test_a_plateau_of_the_test_loss_without_test_data_is_refused_before_training():
    rate: dict[str, Any] = {"name": "sgd", "schedules": {"learning_rate": {"name": "plateau"}}}
    with pytest.raises(d5.ValueError, match="schedule plateau of learning_rate: there are no test data"):
        d5.train(made_of(parts(test_size=0, optimizer=rate)))
    rate["schedules"]["learning_rate"]["loss"] = "training"
    assert d5.train(made_of(parts(test_size=0, optimizer=rate))).passed


def test_a_trainer_without_a_test_sampler_takes_no_metric_of_tests():
    data = d5.tensor_dataset({"image": np.zeros((4, 1, 28, 28), np.float32), "label": np.zeros(4, np.int64)})
    optimizer = d5.optimizer("sgd", d5.executor(d5.model("lenet", with_loss=True)))
    trainer = d5.Trainer(optimizer, d5.sampler("ordered", data, batch_size=2))
    trainer.add_event(d5.training_metric("test_accuracy"))
    with pytest.raises(d5.ValueError, match="metric test_accuracy: there are no test data"):
        trainer.run()


@alone("each would train by itself, which is refused")
@pytest.mark.parametrize("option", ["save", "checkpoint"])
def test_a_file_that_cannot_be_written_is_refused_before_training(option, tmp_path):
    with pytest.raises(d5.IoError, match="cannot write '.*missing"):
        d5.train(made_of(parts()), **{option: tmp_path / "missing" / "net.onnx"})
