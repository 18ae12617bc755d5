# SPDX-License-Identifier: Apache-2.0
"""d5's communicators as mpi4py's."""

from __future__ import annotations

from typing import Any

import numpy as np

from d5._d5 import Communicator, Tensor
from d5.errors import NotFound, Unsupported


def communicator_of(ranks: Communicator) -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise NotFound(f"Communicator.mpi4py: mpi4py cannot be imported ({error}); pip install mpi4py") from error
    # Positions in MPI's world; decorators and nested groups do not matter that way.
    world = Tensor(np.zeros(ranks.size, np.int64))
    ranks.start_all_gather(Tensor(np.array([MPI.COMM_WORLD.rank])), world).wait()
    places = world.numpy().tolist()
    if len(set(places)) != ranks.size:
        raise Unsupported(
            "Communicator.mpi4py: mpi4py does not see the ranks that d5 sees; it was built for another "
            f"MPI ({MPI.get_vendor()[0]})"
        )
    return MPI.COMM_WORLD.Create_group(MPI.COMM_WORLD.group.Incl(places))
