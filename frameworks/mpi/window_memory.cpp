// SPDX-License-Identifier: Apache-2.0
#include "window_memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::mpi {
namespace {

/// Kept windows, in the order of creation. Creation is a collective, so ranks that share several
/// have them in the same order, and none waits for a rank that waits for another.
std::vector<std::shared_ptr<WindowMemory>>& kept() {
  static auto* const all = new std::vector<std::shared_ptr<WindowMemory>>;
  return *all;
}

std::vector<int> world_ranks_of(Communicator& ranks) {
  int mine = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  Tensor numbers = Tensor::empty(DType::int32, {ranks.size()});
  ranks.all_gather(Tensor::scalar<std::int32_t>(mine), numbers);
  const auto all = numbers.span<std::int32_t>();
  return {all.begin(), all.end()};
}

/// Communicator of these ranks in this order, independent of the original communicator.
MPI_Comm comm_of(const std::vector<int>& world_ranks) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(world_ranks.size()), world_ranks.data(), &group);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

bool all_let_go(const std::shared_ptr<WindowMemory>& memory, MPI_Comm comm) {
  int let_go = memory.use_count() == 1;  // `kept` alone has it
  MPI_Allreduce(MPI_IN_PLACE, &let_go, 1, MPI_INT, MPI_MIN, comm);
  return let_go != 0;
}

}  // namespace

std::shared_ptr<WindowMemory> WindowMemory::make(Communicator& ranks, std::size_t bytes) {
  const std::vector<int> world_ranks = world_ranks_of(ranks);
  std::erase_if(kept(), [&](const auto& old) {
    if (old->world_ranks_ != world_ranks || !all_let_go(old, old->comm_)) return false;
    old->free();
    return true;
  });
  std::shared_ptr<WindowMemory> memory(new WindowMemory);
  memory->world_ranks_ = world_ranks;
  memory->comm_ = comm_of(world_ranks);
  if (MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, memory->comm_,
                       &memory->data_, &memory->window_) != MPI_SUCCESS) {
    MPI_Comm_free(&memory->comm_);
    throw MemoryError(
        fmt::format("rank {}: MPI cannot allocate a window of {} bytes", ranks.rank(), bytes));
  }
  MPI_Win_set_errhandler(memory->window_, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, memory->window_);
  std::memset(memory->data_, 0, bytes);
  MPI_Win_sync(memory->window_);
  ranks.barrier();
  return kept().emplace_back(std::move(memory));
}

void WindowMemory::free() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
  MPI_Comm_free(&comm_);
}

void WindowMemory::free_all() {
  std::erase_if(kept(), [](const auto& memory) {
    if (!all_let_go(memory, memory->comm_)) return false;
    memory->free();
    return true;
  });
}

}  // namespace d5::mpi
