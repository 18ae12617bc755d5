# SPDX-License-Identifier: Apache-2.0
# Listing 8 of the Deep500 paper: one optimizer, distributed in four ways, each in a line, through
# one function; the fourth is PyTorch's own in Horovod's place.
#
#     mpirun -np 2 python3 114_four_schemes.py
from typing import Callable

import d5

try:
    import d5.torch as d5torch
except ImportError:
    d5torch = None  # type: ignore[assignment]

ranks = d5.world()


def momentum() -> d5.Optimizer:
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    return d5.optimizer("momentum", executor, learning_rate=0.05)


def test_training(optimizer: d5.Optimizer, sampler: d5.Sampler) -> tuple[float, float]:
    """The loss and the accuracy after 60 batches, this rank's part of each."""
    sampler.take_part(ranks.rank, ranks.size)
    loss, accuracy = d5.training_metric("loss"), d5.training_metric("test_accuracy")
    test = d5.sampler("ordered", d5.subset(d5.dataset("mnist").test, list(range(500))), batch_size=100)
    trainer = d5.Trainer(optimizer, sampler, test, epochs=1, most_batches=60)
    for metric in (loss, accuracy):
        trainer.add_event(metric)
    trainer.run()
    return loss.value, accuracy.value


def batches() -> d5.Sampler:
    return d5.sampler("shuffle", d5.dataset("mnist").train, batch_size=64, seed=1)


SCHEMES: dict[str, Callable[[], d5.Optimizer]] = {
    "consistent, decentralized": lambda: d5.distributed_optimizer("consistent_decentralized", momentum()),
    "consistent, centralized": lambda: d5.distributed_optimizer("consistent_centralized", momentum()),
    "inconsistent, decentralized": lambda: d5.distributed_optimizer("model_averaging", momentum()),
}
if d5torch and "torch" in d5.frameworks():
    SCHEMES["torch's DistributedDataParallel"] = lambda: d5torch.DistributedDataParallel(momentum())

for name, scheme in SCHEMES.items():
    loss, accuracy = test_training(scheme(), batches())
    if ranks.rank == 0:
        print(f"{name:32} {ranks.size} ranks  loss {loss:.3f}  test accuracy {accuracy:.3f}")
    assert accuracy > 0.5
