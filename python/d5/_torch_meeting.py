# SPDX-License-Identifier: Apache-2.0
"""Tells torch where ranks that mpirun started meet."""

import os
import socket

import numpy as np

from d5 import _d5


def tell_where_ranks_meet() -> None:
    if "MASTER_ADDR" in os.environ or "RANK" in os.environ:
        return
    world = _d5.world()
    host, port = np.zeros(256, np.uint8), np.zeros(1, np.int64)
    if world.rank == 0:
        name = socket.gethostname().encode()[: host.size]
        host[: len(name)] = np.frombuffer(name, np.uint8)
        with socket.socket() as one:
            one.bind(("", 0))
            port[0] = one.getsockname()[1]
    world.broadcast(_d5.Tensor(host))
    world.broadcast(_d5.Tensor(port))
    name_of_first = bytes(host).rstrip(b"\0").decode()
    elsewhere = np.array([name_of_first != socket.gethostname()], np.int64)
    world.all_reduce(_d5.Tensor(elsewhere))
    os.environ.update(
        RANK=str(world.rank),
        WORLD_SIZE=str(world.size),
        LOCAL_RANK=os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        MASTER_ADDR=name_of_first if elsewhere[0] else "127.0.0.1",  # a name may not resolve
        MASTER_PORT=str(port[0]),
    )
