# SPDX-License-Identifier: Apache-2.0
"""Run by mpi_profile_test on 2 ranks, with d5_pmpi loaded before: calls whose bytes are known."""
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.rank
data = numpy.full(10, 1.0 + rank)
world.Allreduce(MPI.IN_PLACE, data)
assert data[0] == 3

if rank == 0:
    world.Send(data[:5], 1)
    assert world.recv(source=1) == {"text": 1}
else:
    world.Recv(data[:5], 0)
    world.isend({"text": 1}, 0).wait()

window = MPI.Win.Allocate(24, 8, comm=world)
window.Set_name("parts")
part = numpy.frombuffer(window, dtype=float)
part[:] = 0
window.Fence()
if rank == 1:
    window.Put(data[:3], 0)
window.Fence()
assert part[0] == (3 if rank == 0 else 0)
window.Free()
