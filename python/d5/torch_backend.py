# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over d5's collectives: any script of PyTorch, as it is, and counted.

    import d5.torch_backend
    torch.distributed.init_process_group("d5")
    model = torch.nn.parallel.DistributedDataParallel(model)

Started by mpirun. Importing it, a collective of all ranks then, tells torch where ranks meet
(RANK, WORLD_SIZE, MASTER_ADDR, ...), unless a launcher of torch's has. `pg_options={"all_reduce":
"ring"}`, with the options of that algorithm, or D5_ALL_REDUCE=ring choose how gradients are summed;
else MPI does. Tensors of the CPU, dense and contiguous, are given to d5 without a copy. What torch
asks for and d5 lacks is d5.Unsupported.

What ranks said is in `d5.world().traffic`. While works are under way d5's communicators are not to
be called otherwise.
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
    # torch asks the ranks of a group alone.
    group = calls().run_now(lambda: world.group(members)) if members else world
    return ProcessGroup(group, _algorithm(options))


tell_where_ranks_meet()
dist.Backend.register_backend("d5", _make, extended_api=True, devices=["cpu"])
