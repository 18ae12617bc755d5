// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

namespace d5::mpi {
namespace {

/// In each dimension the previous neighbour, then the next.
void add_grid(MPI_Comm comm, Group& group) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  for (int i = 0; i < dimensions; ++i) {
    int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, i, 1, &before, &behind);
    group.to.insert(group.to.end(), {before, behind});
  }
  group.from = group.to;
}

void add_graph(MPI_Comm comm, Group& group) {
  int neighbours = 0;
  PMPI_Graph_neighbors_count(comm, group.rank, &neighbours);
  group.to.resize(static_cast<std::size_t>(neighbours));
  PMPI_Graph_neighbors(comm, group.rank, neighbours, group.to.data());
  group.from = group.to;
}

void add_distributed_graph(MPI_Comm comm, Group& group) {
  int from = 0, to = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
  group.from.resize(static_cast<std::size_t>(from));
  group.to.resize(static_cast<std::size_t>(to));
  std::vector<int> from_weights(group.from.size()), to_weights(group.to.size());
  PMPI_Dist_graph_neighbors(comm, from, group.from.data(), from_weights.data(), to, group.to.data(),
                            to_weights.data());
}

}  // namespace

void add_neighbours(MPI_Comm comm, Group& group) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) add_grid(comm, group);
  if (kind == MPI_GRAPH) add_graph(comm, group);
  if (kind == MPI_DIST_GRAPH) add_distributed_graph(comm, group);
}

}  // namespace d5::mpi
