// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::mpi {

/// Memory of a group's ranks that MPI lets others access, in one passive epoch that lasts as long
/// as it. Freeing is a collective, and ranks let go when they like: so it waits here until all of
/// the group have let go, and is freed when they make the next one, or leave.
///
/// Thread safety: as the communicator's.
class WindowMemory {
 public:
  /// Zeros. A collective. Throws: MemoryError.
  [[nodiscard]] static std::shared_ptr<WindowMemory> make(Communicator& ranks, std::size_t bytes);
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;

  [[nodiscard]] MPI_Win window() const { return window_; }
  [[nodiscard]] std::byte* data() const { return data_; }

  /// Frees windows that all their ranks have released. A collective of all ranks.
  static void free_all();

 private:
  WindowMemory() = default;
  void free();

  std::vector<int> world_ranks_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* data_ = nullptr;
};

}  // namespace d5::mpi
