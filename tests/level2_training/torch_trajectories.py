# SPDX-License-Identifier: Apache-2.0
"""Writes what torch.optim, or a paper's rule, makes of a sequence of gradients, for
torch_optimizer_test.

    torch_trajectories.py FOLDER STEPS

FOLDER/index.txt has a line a case: file, element type, what is watched ("-", "tests" for what test
runs see, or a slot's name), d5's optimizer, its settings. A case's file holds float64: the first
parameters, then for every step the gradients, the parameters after it, and what is watched.
"""
import pathlib
import sys

try:
    import numpy
    import torch
except ImportError:
    sys.exit(3)

import paper_optimizers as paper

SHAPES = [(3, 4), (5,), (2, 3, 2)]
SIZES = [12, 5, 12]
DECAY = {"weight_decay": 0.02}
DECOUPLED = {"weight_decay": 0.1, "decoupled_weight_decay": "true"}
O = torch.optim


class MuonAndAdamW:
    """torch's Muon of matrices, in the parameters' own type instead of bfloat16, and its AdamW."""

    def __init__(self, parameters, lr=1e-3, rest={}, **options):
        torch.Tensor.bfloat16 = torch.Tensor.clone
        self.parts = [O.Muon([p for p in parameters if p.ndim == 2], lr=lr, **options),
                      O.AdamW([p for p in parameters if p.ndim != 2], **rest)]
        self.state = {}

    def step(self):
        for part in self.parts:
            part.step()


# d5's optimizer and settings, whose rule, its options, what is watched
CASES = [
    ("sgd", {}, O.SGD, {"lr": 0.01}),
    ("sgd", {"learning_rate": 0.01, "weight_decay": 0.01}, O.SGD, {"lr": 0.01, "weight_decay": 0.01}),
    ("momentum", {}, O.SGD, {"lr": 0.01, "momentum": 0.9}),
    ("momentum", {"momentum": 0.8, "dampening": 0.3, **DECAY}, O.SGD,
     {"lr": 0.01, "momentum": 0.8, "dampening": 0.3, **DECAY}),
    ("momentum", {"nesterov": "true", **DECAY}, O.SGD,
     {"lr": 0.01, "momentum": 0.9, "nesterov": True, **DECAY}),
    ("adam", {}, O.Adam, {}),
    ("adam", {"beta1": 0.7, "beta2": 0.95, "epsilon": 1e-3, **DECAY}, O.Adam,
     {"betas": (0.7, 0.95), "eps": 1e-3, **DECAY}),
    ("adam", {"amsgrad": "true", "beta2": 0.9}, O.Adam, {"amsgrad": True, "betas": (0.9, 0.9)}),
    ("adamw", {}, O.AdamW, {}),
    ("adamw", {"weight_decay": 0.3, "amsgrad": "true", "beta2": 0.9}, O.AdamW,
     {"weight_decay": 0.3, "amsgrad": True, "betas": (0.9, 0.9)}),
    ("nadam", {}, O.NAdam, {}),
    ("nadam", {"beta1": 0.8, "momentum_decay": 0.1, **DECAY}, O.NAdam,
     {"betas": (0.8, 0.999), "momentum_decay": 0.1, **DECAY}),
    ("nadam", DECOUPLED, O.NAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("radam", {}, O.RAdam, {}),
    ("radam", {"beta2": 0.9, "epsilon": 0.01, **DECAY}, O.RAdam,
     {"betas": (0.9, 0.9), "eps": 0.01, **DECAY}),
    ("radam", DECOUPLED, O.RAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("adamax", {}, O.Adamax, {}),
    ("adamax", {"beta2": 0.9, "epsilon": 0.1, **DECAY}, O.Adamax,
     {"betas": (0.9, 0.9), "eps": 0.1, **DECAY}),
    ("adagrad", {}, O.Adagrad, {}),
    ("adagrad", {"learning_rate": 0.1, "learning_rate_decay": 0.01,
                 "initial_accumulator_value": 0.5, "epsilon": 0.01, **DECAY}, O.Adagrad,
     {"lr": 0.1, "lr_decay": 0.01, "initial_accumulator_value": 0.5, "eps": 0.01, **DECAY}),
    ("rmsprop", {}, O.RMSprop, {}),
    ("rmsprop", {"alpha": 0.9, "epsilon": 0.1, **DECAY}, O.RMSprop,
     {"alpha": 0.9, "eps": 0.1, **DECAY}),
    ("rmsprop", {"centered": "true", "epsilon": 0.01}, O.RMSprop, {"centered": True, "eps": 0.01}),
    ("rmsprop", {"learning_rate": 1e-3, "momentum": 0.8}, O.RMSprop, {"lr": 1e-3, "momentum": 0.8}),
    ("rmsprop", {"learning_rate": 1e-3, "momentum": 0.8, "centered": "true", "epsilon": 0.01,
                 **DECAY}, O.RMSprop,
     {"lr": 1e-3, "momentum": 0.8, "centered": True, "eps": 0.01, **DECAY}),
    ("adadelta", {}, O.Adadelta, {}),
    ("adadelta", {"learning_rate": 0.5, "rho": 0.7, "epsilon": 1e-3, **DECAY}, O.Adadelta,
     {"lr": 0.5, "rho": 0.7, "eps": 1e-3, **DECAY}),
    ("rprop", {}, O.Rprop, {}),
    ("rprop", {"learning_rate": 0.05, "eta_minus": 0.7, "eta_plus": 1.4, "least_step_size": 1e-3,
               "most_step_size": 0.06}, O.Rprop,
     {"lr": 0.05, "etas": (0.7, 1.4), "step_sizes": (1e-3, 0.06)}),
    ("asgd", {}, O.ASGD, {}, "average"),
    ("asgd", {"learning_rate": 0.1, "lambda": 0.1, "alpha": 0.6, "t0": 20, **DECAY}, O.ASGD,
     {"lr": 0.1, "lambd": 0.1, "alpha": 0.6, "t0": 20, **DECAY}, "average"),
    ("adafactor", {}, O.Adafactor, {}),
    ("adafactor", {"learning_rate": 0.1, "beta2_decay": -0.5, "epsilon1": 1e-2, "epsilon2": 0.1,
                   "clipping_threshold": 1.01, "weight_decay": 0.1}, O.Adafactor,
     {"lr": 0.1, "beta2_decay": -0.5, "eps": (1e-2, 0.1), "d": 1.01, "weight_decay": 0.1}),
    ("adafactor", {"epsilon1_is": "added"}, paper.PaperAdafactor, {}),
    ("muon", {}, MuonAndAdamW, {}),
    ("muon", {"learning_rate": 0.01, "weight_decay": 0.2, "momentum": 0.7, "nesterov": "false",
              "coefficients": "3,-3.2,1.2", "iterations": 3, "adjustment": "match_rms_adamw",
              "adamw_learning_rate": 0.01, "adamw_beta1": 0.8, "adamw_weight_decay": 0.1},
     MuonAndAdamW,
     {"lr": 0.01, "weight_decay": 0.2, "momentum": 0.7, "nesterov": False,
      "ns_coefficients": (3, -3.2, 1.2), "ns_steps": 3, "adjust_lr_fn": "match_rms_adamw",
      "rest": {"lr": 0.01, "betas": (0.8, 0.999), "weight_decay": 0.1}}),
    ("lion", {"learning_rate": 1e-4, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0}, paper.Lion),
    ("lion", {"learning_rate": 1e-3, "beta1": 0.8, "beta2": 0.95, "weight_decay": 0.3}, paper.Lion),
    ("frozen_adam", {"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8,
                     "weight_decay": 0.0, "warm_up": 20}, paper.FrozenAdam),
    ("frozen_adam", {"learning_rate": 0.01, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3,
                     "weight_decay": 0.1, "warm_up": 1}, paper.FrozenAdam),
    ("lars", {"learning_rate": 0.1, "momentum": 0.9, "trust_coefficient": 1e-3, "weight_decay": 0.0},
     paper.Lars),
    ("lars", {"learning_rate": 0.3, "momentum": 0.8, "trust_coefficient": 0.01, **DECAY}, paper.Lars),
    ("lamb", {"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6,
              "weight_decay": 0.01}, paper.Lamb),
    ("lamb", {"learning_rate": 1e-3, "beta1": 0.7, "beta2": 0.9, "epsilon": 0.01,
              "weight_decay": 0.3}, paper.Lamb),
    ("shampoo", {"learning_rate": 0.01, "weight_decay": 0.0, "epsilon": 1e-4, "every": 1,
                 "largest_side": 1024, "graft": "adagrad", "graft_epsilon": 1e-10}, paper.Shampoo),
    ("shampoo", {"learning_rate": 0.02, "weight_decay": 0.1, "epsilon": 0.1, "every": 7,
                 "largest_side": 3, "graft": "none", "graft_epsilon": 0.0}, paper.Shampoo),
    ("shampoo", {"learning_rate": 1e-3, "weight_decay": 0.1, "epsilon": 0.1, "every": 1,
                 "largest_side": 4, "graft": "sgd", "graft_epsilon": 0.0}, paper.Shampoo),
    ("schedule_free_sgd", {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.0,
                           "warmup_steps": 0, "step_power": 0.0, "rate_power": 2.0},
     paper.ScheduleFreeSgd, None, "tests"),
    ("schedule_free_sgd", {"learning_rate": 0.2, "momentum": 0.7, "weight_decay": 0.05,
                           "warmup_steps": 50, "step_power": 1.0, "rate_power": 2.0},
     paper.ScheduleFreeSgd, None, "tests"),
    ("schedule_free_adamw", {"learning_rate": 2.5e-3, "beta1": 0.9, "beta2": 0.999,
                             "epsilon": 1e-8, "weight_decay": 0.0, "warmup_steps": 0,
                             "step_power": 0.0, "rate_power": 2.0},
     paper.ScheduleFreeAdamW, None, "tests"),
    ("schedule_free_adamw", {"learning_rate": 0.01, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3,
                             "weight_decay": 0.1, "warmup_steps": 30, "step_power": 0.5,
                             "rate_power": 1.0},
     paper.ScheduleFreeAdamW, None, "tests"),
    ("accelegrad", {"diameter": 1.0, "gradient_bound": 1.0, "per_parameter": "false"},
     paper.Accelegrad, None, "tests"),
    ("accelegrad", {"diameter": 0.5, "gradient_bound": 10.0, "per_parameter": "true"},
     paper.Accelegrad, None, "tests"),
    ("lbfgs", {"line_search": "none", "iterations": 1, "history": 4, "learning_rate": 0.005},
     paper.Lbfgs),
    ("lbfgs", {"line_search": "none", "iterations": 1, "history": 10, "learning_rate": 0.003},
     paper.Lbfgs),
]


def split(row):
    return [part.reshape(shape) for part, shape in zip(numpy.split(row, numpy.cumsum(SIZES)[:-1]), SHAPES)]


def flat(arrays):
    return numpy.concatenate([numpy.asarray(a, numpy.float64).ravel() for a in arrays])


def follow_torch(make, options, start, gradients, watch):
    """Rows of each step: gradients, parameters after it, then what is watched."""
    torch.set_default_dtype(torch.from_numpy(start).dtype)
    parameters = [torch.from_numpy(part.copy()).requires_grad_() for part in split(start)]
    optimizer = make(parameters, **options)
    for gradient in gradients:
        for parameter, part in zip(parameters, split(gradient)):
            parameter.grad = torch.from_numpy(part.copy())
        yield gradient
        optimizer.step()
        yield flat([p.detach().numpy() for p in parameters])
        if watch == "average":
            yield flat([optimizer.state[p]["ax"].numpy() for p in parameters])


def follow_paper(make, options, start, gradients, watch):
    parameters = split(start.astype(numpy.float64))
    rule = make(**options)
    for noise in gradients:
        gradient = rule.gradient(parameters, noise).astype(start.dtype)
        yield gradient
        rule.step(parameters, split(gradient.astype(numpy.float64)))
        yield flat(parameters)
        if watch == "tests":
            yield flat(rule.seen(parameters))


def main() -> None:
    folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    index = []
    for dtype in ("float32", "float64"):
        for number, case in enumerate(CASES):
            name, settings, make = case[:3]
            options = case[3] if len(case) > 3 and case[3] is not None else None
            watch = case[4] if len(case) > 4 else "-"
            random = numpy.random.default_rng(number)
            start = random.standard_normal(sum(SIZES)).astype(dtype)
            gradients = random.standard_normal((steps, sum(SIZES))).astype(dtype)
            is_paper = issubclass(make, paper.Rule)
            follow = follow_paper if is_paper else follow_torch
            rows = list(follow(make, settings if options is None else options, start, gradients, watch))
            file = f"{name}-{number}-{dtype}.bin"
            rows = [start, *rows]
            numpy.stack([r.astype(numpy.float64) for r in rows]).tofile(folder / file)
            words = " ".join(f"{key}={value}" for key, value in settings.items())
            index.append(f"{file} {dtype} {watch} {name} {words}".strip())
    (folder / "index.txt").write_text("\n".join(index) + "\n")


main()
