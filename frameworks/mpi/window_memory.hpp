// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::mpi {

/// Memory of a group's ranks for one-sided access by MPI, in one passive epoch as long as it lives.
/// Freeing is a collective, but ranks release it at different times: it is kept until all of the
/// group have released it, and freed when they make the next one, or leave.
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
