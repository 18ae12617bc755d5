// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/node/memory_window.hpp"

namespace d5::mpi {

/// Windows by MPI's one-sided calls, in one passive epoch. Locks are words in each part: MPI's own
/// would also exclude accesses without a lock.
///
/// Source: Hoefler et al., "Remote Memory Access Programming in MPI-3" (TOPC 2015).
class MpiWindows final : public LibraryWindows {
 public:
  [[nodiscard]] std::shared_ptr<MemoryWindow> make(std::shared_ptr<Communicator> ranks,
                                                   std::size_t bytes) override;
};

}  // namespace d5::mpi
