# SPDX-License-Identifier: Apache-2.0
# Listing 8 of the Deep500 paper: one optimizer, distributed by four schemes, one line each, through
# one function. The fourth is PyTorch's own scheme instead of Horovod.
#
#     python3 114_four_schemes.py [RANKS]
import shutil
import sys

import d5

try:
    import d5.torch as d5torch
except ImportError:
    d5torch = None  # type: ignore[assignment]


def momentum() -> d5.Optimizer:
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    return d5.optimizer("momentum", executor, learning_rate=0.05)


def batches() -> d5.Sampler:
    return d5.sampler("shuffle", d5.dataset("mnist").train, batch_size=60, seed=1)


def test_training(name: str, optimizer: d5.Optimizer, sampler: d5.Sampler) -> d5.Measurements:
    """Records of all ranks after 50 batches; the rank of a server has none."""
    ranks = d5.world()
    workers = optimizer.workers if isinstance(optimizer, d5.DistributedOptimizer) else ranks
    if workers:
        sampler.take_part(workers.rank, workers.size)
    test = d5.sampler("ordered", d5.subset(d5.dataset("mnist").test, list(range(200))), batch_size=100)
    metrics = [d5.training_metric("loss"), d5.training_metric("test_accuracy")]
    trainer = d5.Trainer(optimizer, sampler, test, epochs=1, most_batches=50)
    for metric in metrics:
        trainer.add_event(metric)
    trainer.run()
    return d5.gather_records([metric.record(name) for metric in metrics], ranks, bool(workers))


def four_schemes() -> d5.Measurements:
    dsgd = test_training("dsgd", d5.distributed_optimizer("consistent_decentralized", momentum()), batches())
    pssgd = test_training("pssgd", d5.distributed_optimizer("consistent_centralized", momentum()), batches())
    rows = dsgd + pssgd
    if d5.world().size > 1:  # one rank serves
        rows += test_training("asgd", d5.distributed_optimizer("inconsistent_centralized", momentum()), batches())
    if d5torch and "torch" in d5.framework_words(["all"]):
        rows += test_training("torch's ddp", d5torch.DistributedDataParallel(momentum()), batches())
    return rows


if __name__ == "__main__":
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    table = d5.launch(four_schemes, ranks=most if shutil.which("mpirun") else 1)[0]
    print(table)
    accuracy = {row.subject: row.value for row in table if row.metric == "test_accuracy"}
    # Consistent schemes equal training on one rank, whatever sums the gradients; asgd depends on
    # delays.
    assert accuracy["dsgd"] > 0.3, accuracy  # guessing has 0.1
    assert abs(accuracy["dsgd"] - accuracy["pssgd"]) < 0.02, accuracy
