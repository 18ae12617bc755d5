# SPDX-License-Identifier: Apache-2.0
"""Writes the learning rates that torch.optim.lr_scheduler makes, for torch_schedule_test.

    torch_schedules.py FOLDER TIMES

FOLDER/index.txt has a line a case: file, d5's schedule, its settings. A case's file holds float64:
the rates at the times 0, 1, ...; for a schedule that observes, the losses that it was given follow.
The rate by itself is 0.1.
"""
import math
import pathlib
import sys

try:
    import numpy
    import torch
    from torch.optim import lr_scheduler as torch_schedules
    from torch.optim.swa_utils import SWALR
except ImportError:
    sys.exit(3)

RATE = 0.1
S = torch_schedules


def inverse_root(warmup):
    return lambda o: S.LambdaLR(o, lambda t: min((t + 1) / warmup, math.sqrt(warmup / (t + 1))))


def sequence(milestones, *parts):
    return lambda o: S.SequentialLR(o, [part(o) for part in parts], list(milestones))


def chain(*parts):
    return lambda o: S.ChainedScheduler([part(o) for part in parts], optimizer=o)


def own_factors(*factors):
    return lambda o: S.MultiplicativeLR(o, lambda t: factors[min(t, len(factors)) - 1])


def averaging(**options):
    return lambda o: SWALR(o, **options)


def cyclic(**options):
    return lambda o: S.CyclicLR(o, RATE, 3 * RATE, cycle_momentum=False, **options)


def one_cycle(**options):
    return lambda o: S.OneCycleLR(o, RATE, cycle_momentum=False, **options)


CASES = [
    ("constant factor=0.3 length=7", lambda o: S.ConstantLR(o, 0.3, 7)),
    ("step size=9 factor=0.5", lambda o: S.StepLR(o, 9, 0.5)),
    ("multi_step at=3,20,21 factor=0.2", lambda o: S.MultiStepLR(o, [3, 20, 21], 0.2)),
    ("multiplicative factors=0.9,1.5,0.2,0.99", own_factors(0.9, 1.5, 0.2, 0.99)),
    ("chain parts.0.name=warmup parts.0.start=0.1 parts.0.length=8 parts.1.name=exponential"
     " parts.1.factor=0.95 parts.2.name=multi_step parts.2.at=20,50 parts.2.factor=0.3",
     chain(lambda o: S.LinearLR(o, 0.1, 1, 8), lambda o: S.ExponentialLR(o, 0.95),
           lambda o: S.MultiStepLR(o, [20, 50], 0.3))),
    ("cosine length=30 end=0.2", averaging(swa_lr=0.2 * RATE, anneal_epochs=30)),
    ("linear start=1 end=0.2 length=30",
     averaging(swa_lr=0.2 * RATE, anneal_epochs=30, anneal_strategy="linear")),
    ("exponential factor=0.9", lambda o: S.ExponentialLR(o, 0.9)),
    ("inverse_root warmup=10", inverse_root(10)),
    ("polynomial length=40 power=2", lambda o: S.PolynomialLR(o, 40, 2)),
    ("polynomial length=40", lambda o: S.PolynomialLR(o, 40, 1)),
    ("linear start=0.25 end=0.75 length=12", lambda o: S.LinearLR(o, 0.25, 0.75, 12)),
    ("cosine length=100 end=0.05", lambda o: S.CosineAnnealingLR(o, 100, 0.05 * RATE)),
    ("cosine_restarts first=7 end=0.1",
     lambda o: S.CosineAnnealingWarmRestarts(o, 7, 1, 0.1 * RATE)),
    ("cosine_restarts first=6 times=2 end=0.1",
     lambda o: S.CosineAnnealingWarmRestarts(o, 6, 2, 0.1 * RATE)),
    ("warmup length=8 start=0.1 then=constant", lambda o: S.LinearLR(o, 0.1, 1, 8)),
    ("warmup length=8 start=0.1 then.name=step then.size=10 then.factor=0.5",
     sequence([8], lambda o: S.LinearLR(o, 0.1, 1, 8), lambda o: S.StepLR(o, 10, 0.5))),
    ("one_cycle length=100", one_cycle(total_steps=100)),
    ("one_cycle length=100 rising=0.4 shape=linear start=0.1 end=0.002",
     one_cycle(total_steps=100, pct_start=0.4, anneal_strategy="linear", div_factor=10,
               final_div_factor=50)),
    ("one_cycle length=100 symmetric=true", one_cycle(total_steps=100, three_phase=True)),
    ("cyclic top=3 up=10", cyclic(step_size_up=10)),
    ("cyclic top=3 up=6 down=9 mode=triangular2",
     cyclic(step_size_up=6, step_size_down=9, mode="triangular2")),
    ("cyclic top=3 up=10 mode=exp_range factor=0.98",
     cyclic(step_size_up=10, mode="exp_range", gamma=0.98)),
    ("sequence parts.0.name=constant parts.0.factor=0.1 parts.1.name=exponential"
     " parts.1.factor=0.95 parts.2.name=cosine parts.2.length=70 parts.2.end=0.2 at=5,30",
     sequence([5, 30], lambda o: S.ConstantLR(o, 0.1, 1000), lambda o: S.ExponentialLR(o, 0.95),
              lambda o: S.CosineAnnealingLR(o, 70, 0.2 * RATE))),
    ("plateau factor=0.5 patience=3",
     lambda o: S.ReduceLROnPlateau(o, eps=0, factor=0.5, patience=3)),
    ("plateau factor=0.5 patience=2 cooldown=4 threshold=0.05 least=0.1",
     lambda o: S.ReduceLROnPlateau(o, eps=0, factor=0.5, patience=2, cooldown=4, threshold=0.05,
                                   min_lr=0.1 * RATE)),
    ("plateau factor=0.5 patience=2 threshold=0.1 measure=absolute",
     lambda o: S.ReduceLROnPlateau(o, eps=0, factor=0.5, patience=2, threshold=0.1,
                                   threshold_mode="abs")),
]


def main() -> None:
    folder, times = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    losses = [2 / (1 + 0.1 * t) + 0.3 * math.sin(3.0 * t) for t in range(times)]
    index = []
    for number, (words, make) in enumerate(CASES):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
        schedule = make(optimizer)
        observes = isinstance(schedule, S.ReduceLROnPlateau)
        rates = []
        for t in range(times):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if t + 1 < times:
                schedule.step(losses[t]) if observes else schedule.step()
        numpy.array(rates + (losses if observes else [])).tofile(folder / f"{number}.bin")
        index.append(f"{number}.bin {words}")
    (folder / "index.txt").write_text("\n".join(index) + "\n")


main()
