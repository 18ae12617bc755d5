// SPDX-License-Identifier: Apache-2.0
#include "groups.hpp"

#include <numeric>

#include "topology.hpp"

namespace d5::mpi {
namespace {

/// Ranks in MPI_COMM_WORLD of the ranks of `group`, which is freed.
std::vector<int> world_ranks_of(MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), result(own.size());
  std::iota(own.begin(), own.end(), 0);
  PMPI_Group_translate_ranks(group, size, own.data(), world, result.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return result;
}

}  // namespace

Groups& Groups::here() {
  static auto* const groups = new Groups;
  return *groups;
}

Group& Groups::add(const char* kind, const char* name) {
  Group& group = groups_.emplace_back();
  group.name = *name ? name : kind + (" " + std::to_string(groups_.size() - 1));
  return group;
}

const Group& Groups::of(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const auto place = by_comm_.find(comm);
  if (place != by_comm_.end()) return *place->second;
  char name[MPI_MAX_OBJECT_NAME] = {};
  int joins = 0, length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  Group& group = add("communicator", name);
  PMPI_Comm_test_inter(comm, &joins);
  group.joins_two_groups = joins != 0;
  PMPI_Comm_rank(comm, &group.rank);
  PMPI_Comm_size(comm, &group.size);
  MPI_Group ranks = MPI_GROUP_NULL;
  (joins ? PMPI_Comm_remote_group : PMPI_Comm_group)(comm, &ranks);
  group.world_ranks = world_ranks_of(ranks);
  if (!joins) add_neighbours(comm, group);
  by_comm_[comm] = &group;
  return group;
}

const Group& Groups::of_window(MPI_Win window) {
  const std::lock_guard lock(mutex_);
  const auto place = by_window_.find(window);
  if (place != by_window_.end()) return *place->second;
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  PMPI_Win_get_name(window, name, &length);
  Group& group = add("window", name);
  MPI_Group ranks = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &ranks);
  PMPI_Group_rank(ranks, &group.rank);
  PMPI_Group_size(ranks, &group.size);
  group.world_ranks = world_ranks_of(ranks);
  by_window_[window] = &group;
  return group;
}

void Groups::forget(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  by_comm_.erase(comm);
}

void Groups::forget_window(MPI_Win window) {
  const std::lock_guard lock(mutex_);
  by_window_.erase(window);
}

}  // namespace d5::mpi
