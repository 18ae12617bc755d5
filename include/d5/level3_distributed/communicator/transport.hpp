// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// The communication of a job's ranks, a part that a framework brings to level 3. d5's own
/// transport is the framework "mpi", loaded if a launcher started this process, or on request.
///
///     framework.part<std::unique_ptr<Transport>>() = std::make_unique<MyTransport>();
///
/// Thread safety: none; one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  /// "Open MPI v4.1.4". Does not start the library.
  [[nodiscard]] virtual std::string description() const = 0;
  /// All ranks of the job; starts the library unless it is running. Called once, on all ranks.
  /// Throws: CommunicationError.
  [[nodiscard]] virtual std::shared_ptr<Communicator> world() = 0;
  /// Implements `d5::communicator_of`.
  [[nodiscard]] virtual std::shared_ptr<Communicator> communicator_of(const void* handle) = 0;
  /// Implements `leave_world`.
  virtual void leave(int status) = 0;
};

/// A communicator over the ranks of another library's communicator: a duplicate, so that messages
/// do not mix. `mpi_comm` points to the handle, an `MPI_Comm` of the MPI that d5 was built for;
/// mpi4py's `MPI._addressof(comm)` is such a pointer. A collective of its ranks.
///
/// The caller owns MPI: it starts MPI, finalises it after the last use of the result, and decides
/// how a job ends when a rank fails.
/// Throws: Unsupported if MPI cannot be loaded, and for an inter-communicator; ValueError for a
/// null pointer or MPI_COMM_NULL; CommunicationError if MPI is not running, also in calls after
/// MPI_Finalize.
///
///     MPI_Comm comm = ...;
///     auto ranks = communicator_of(&comm);
///     ranks->all_reduce(gradient);
[[nodiscard]] std::shared_ptr<Communicator> communicator_of(const void* mpi_comm);

/// Elements of each rank's part and before it, from `counts`, or `elements` shared equally by
/// `size` ranks. A helper for transports.
struct RankParts {
  RankParts(const RankCounts& counts, std::int64_t elements, int size);
  std::vector<std::int64_t> counts, begins;
};

/// Computes into = into (+, max, min) other, like `Communicator::reduce_local`. A helper for
/// transports whose library lacks a type. Throws: TypeError for types that are not numeric.
void reduce_memory(DType dtype, void* into, const void* other, std::int64_t count,
                   Reduction reduction);

}  // namespace d5
