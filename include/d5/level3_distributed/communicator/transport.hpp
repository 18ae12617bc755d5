// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// How the ranks of a job talk to each other: what a framework brings to level 3. d5's own is that
/// of the framework "mpi", loaded where a launcher started this process, or when somebody asks.
///
///     framework.part<std::unique_ptr<Transport>>() = std::make_unique<MyTransport>();
///
/// Thread safety: none; one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  /// "Open MPI v4.1.4". Starts nothing.
  [[nodiscard]] virtual std::string description() const = 0;
  /// All ranks of the job: starts the library where nobody has. Called once, on all ranks.
  /// Throws: CommunicationError.
  [[nodiscard]] virtual std::shared_ptr<Communicator> world() = 0;
  /// As `d5::communicator_of`.
  [[nodiscard]] virtual std::shared_ptr<Communicator> communicator_of(const void* handle) = 0;
  /// As `leave_world`.
  virtual void leave(int status) = 0;
};

/// The ranks of another library's communicator, apart from what it says on it itself: a duplicate.
/// `mpi_comm` points to the handle, an `MPI_Comm` of the MPI that d5 was built for; mpi4py's
/// `MPI._addressof(comm)` is such a pointer. A collective of its ranks.
///
/// MPI stays the other side's: it has started it, and ends it, after the last use of what is
/// returned; how a job ends where a rank fails is its affair, too.
/// Throws: Unsupported where MPI cannot be loaded, and for an inter-communicator; ValueError for
/// none; CommunicationError where MPI does not run. A call after MPI_Finalize throws that, too.
///
///     MPI_Comm comm = ...;
///     auto ranks = communicator_of(&comm);
///     ranks->all_reduce(gradient);
[[nodiscard]] std::shared_ptr<Communicator> communicator_of(const void* mpi_comm);

/// For transports: elements before each rank's part, for `elements` in `counts`, or shared equally
/// by `size` ranks.
struct RankParts {
  RankParts(const RankCounts& counts, std::int64_t elements, int size);
  std::vector<std::int64_t> counts, begins;
};

/// For transports whose library does not know a type: into = into (+, max, min) other, as
/// `Communicator::reduce_local` does it. Throws: TypeError for types that are no numbers.
void reduce_memory(DType dtype, void* into, const void* other, std::int64_t count,
                   Reduction reduction);

}  // namespace d5
