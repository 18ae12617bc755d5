// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/training_session.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::app {

/// How `d5 train` uses the ranks that mpirun started.
struct DistributedOptions {
  EntryChoice scheme{"consistent_decentralized"};
  /// "strong": the recipe's batch is shared by all ranks, so that training is the same as on one.
  /// "weak": every rank takes a batch of the recipe's size.
  std::string scaling = "strong";
};

/// What a command line says in place of the recipe's section "distributed"; empty: nothing.
struct DistributedChanges {
  std::string scheme, scaling, all_reduce, bucket_bytes;
};

/// The recipe's section "distributed", changed.
[[nodiscard]] DistributedOptions distributed_options(const Recipe& recipe,
                                                     const DistributedChanges& changes);

/// Makes a session run on all ranks of `ranks`; nothing changes for one rank. Rank 0 alone speaks
/// and writes checkpoints. Throws at training: ValueError if the ranks cannot share the batch,
/// Unsupported for an optimizer that is no three-step one.
void distribute(SessionOptions& session, const DistributedOptions& options,
                const std::shared_ptr<Communicator>& ranks);

/// Divides the cores of this machine among its ranks. No effect without a launcher.
void share_threads();

/// Makes the records of this rank those of all: times become the maximum over ranks, losses and
/// training accuracies the mean; each rank's traffic
/// since `before` since `before` is added. A collective.
void gather_results(std::vector<Measurement>& results, const Traffic& before, Communicator& ranks);

}  // namespace d5::app
