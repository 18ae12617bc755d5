# SPDX-License-Identifier: Apache-2.0
# Listing 9 of the Deep500 paper: a scheme whose step is a loop over parameters, compared with d5's own.
#
#     mpirun -np 2 python3 115_own_scheme.py
from typing import Any

import d5


@d5.register("own_decentralized")
class ConsistentDecentralized(d5.DistributedOptimizer):
    """Scheme in which every rank sums all gradients, parameter by parameter."""

    def step(self, batch: d5.Batch) -> dict[str, Any]:
        self.optimizer.begin_step(batch)  # new_input, prepare_param
        outputs = self.optimizer.run_gradients(batch)
        for parameter in self.network.parameters:
            parameter.gradient *= self.share(batch)
            self.ranks.all_reduce(parameter.gradient)
        if self.optimizer.begin_updates():  # modifiers have seen the gradients of all
            for i in range(len(self.network.parameters)):
                self.optimizer.update(i)  # update_rule
            self.optimizer.end_step()
        return outputs


ranks = d5.world()


def losses(scheme: str, **parts: Any) -> list[float]:
    """Losses of five steps, by momentum with these modifiers and schedules."""
    recipe = d5.Recipe(
        {
            "name": "five-steps",
            "fixed": {"dataset": {"name": "mnist"}, "model": {"name": "lenet"}},
            "mutable": {
                "optimizer": {"name": "momentum", "learning_rate": 0.05, **parts},
                "sampler": {"name": "shuffle", "batch_size": 24},
                "training": {"epochs": 1, "most_batches": 5, "seed": 1},
            },
        }
    )
    rows, _ = d5.train(recipe, distributed=scheme)
    samples: list[float] = {row.metric: row.samples for row in rows}["loss"]
    return samples


PARTS: dict[str, Any] = {
    "plain": {},
    "clipped": {"modifiers": [{"name": "clip_norm", "most": 0.5}]},
    "scheduled": {"schedules": {"learning_rate": {"name": "cosine", "length": 5}}},
}
for name, parts in PARTS.items():
    ours, theirs = losses("own_decentralized", **parts), losses("consistent_decentralized", **parts)
    if ranks.rank == 0:
        print(f"{name}: loss {ours[-1]:.6f}, of d5's own {theirs[-1]:.6f}")
    # The shares of two ranks are halves, which are exact; those of more ranks are rounded.
    assert ours == theirs if ranks.size <= 2 else all(abs(a - b) < 1e-4 for a, b in zip(ours, theirs))
