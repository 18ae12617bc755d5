# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over d5's collectives: runs any PyTorch script unchanged, and counts its traffic.

    import d5.torch_backend
    torch.distributed.init_process_group("d5")
    model = torch.nn.parallel.DistributedDataParallel(model)

Start it by mpirun. Its import, a collective of all ranks, sets the variables by which torch's ranks meet
(RANK, WORLD_SIZE, MASTER_ADDR, ...), unless a torch launcher has set them. `pg_options={"all_reduce":
"ring"}`, with the options of that algorithm, or D5_ALL_REDUCE=ring selects the algorithm that sums
gradients; the default is MPI's. Dense, contiguous CPU tensors are passed to d5 without a copy. Calls that
d5 does not support raise d5.Unsupported.

`d5.world().traffic` counts messages. Do not call d5's communicators directly while works are in progress.
"""

import os
from typing import Any

import torch.distributed as dist

from d5 import _d5
from d5._torch_meeting import tell_where_ranks_meet
from d5._torch_process_group import ProcessGroup
from d5._torch_works import calls
from d5.errors import TypeError, Unsupported, ValueError


def _algorithm(options: Any) -> _d5.AllReduce | None:
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"d5: pg_options is a {type(options).__name__}, expected a dict, such as {{'all_reduce': 'ring'}}")
    chosen = dict(options or {})
    name = chosen.pop("all_reduce", os.environ.get("D5_ALL_REDUCE", "mpi"))
    return None if name == "mpi" and not chosen else _d5.AllReduce(name, **chosen)


def _make(of_torch: Any, options: Any) -> ProcessGroup:
    world = _d5.world()
    members = list(of_torch.global_ranks_in_group)
    ranks = dist.get_world_size() if members else of_torch.group_size
    if ranks != world.size:
        raise Unsupported(
            f"d5: torch knows {ranks} ranks, and mpirun started {world.size}; start by mpirun, not by torchrun"
        )
    rank = (members or range(ranks))[of_torch.group_rank]
    if rank != world.rank:
        raise ValueError(f"d5: torch calls this rank {rank}, mpirun {world.rank}; leave out rank=")
    # torch calls this only on the ranks of a group.
    group = calls().run_now(lambda: world.group(members)) if members else world
    return ProcessGroup(group, _algorithm(options))


tell_where_ranks_meet()
dist.Backend.register_backend("d5", _make, extended_api=True, devices=["cpu"])
