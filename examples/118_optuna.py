# SPDX-License-Identifier: Apache-2.0
# Optuna searches a recipe's hyper-parameters; d5 trains each point, and ends those that do badly.
import sys
from typing import Any

import d5

try:
    import optuna  # type: ignore[import-not-found, unused-ignore]
except ImportError as reason:
    print("skipped:", reason)
    sys.exit()

recipe = d5.recipe("mnist-lenet-quick").changed("training.epochs=2", "training.most_batches=30")


class Pruning(d5.Event):
    """Tells Optuna the test accuracy after each epoch, and ends a training that it gives up."""

    def __init__(self, trial: Any, accuracy: d5.TrainingMetric) -> None:
        self.trial, self.accuracy = trial, accuracy

    def after_test(self, trainer: d5.Trainer) -> None:
        self.trial.report(self.accuracy.samples[-1], trainer.epoch)

    def wants_stop(self) -> bool:
        return bool(self.trial.should_prune())


def trained(trial: Any) -> float:
    least, most = 0.001, 0.2
    rate = trial.suggest_float("learning_rate", least, most, log=True)
    name = trial.suggest_categorical("name", ["momentum", "adam"])
    accuracy = d5.training_metric("test_accuracy")
    events = [accuracy, Pruning(trial, accuracy)]
    overrides = {"optimizer": {"name": name, "learning_rate": rate}}
    d5.train(recipe, overrides=overrides, events=events)
    return accuracy.value


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
study.optimize(trained, n_trials=4)
print(f"test accuracy {study.best_value:.3f} with {study.best_params}")
assert study.best_value > 0.5
