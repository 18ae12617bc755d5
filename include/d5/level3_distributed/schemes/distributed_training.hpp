// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Options of distributed training.
struct DistributedOptions {
  EntryChoice scheme{"consistent_decentralized"};
  /// "strong": all ranks share the recipe's batch, so training is the same as on one rank. "weak":
  /// every rank takes a batch of the recipe's size.
  std::string scaling = "strong";
  EntryChoice samples{"partition"};     ///< from `sample_cuts`, for the training set
  EntryChoice test_samples{"batches"};  ///< from `sample_cuts`, for the test set
  /// Seed of the scheme's random numbers: the training's seed.
  std::uint64_t seed = 0;
};

/// Reads the recipe's section "distributed". Throws: NotFound for unknown names, on one rank too;
/// ValueError for invalid values.
[[nodiscard]] DistributedOptions distributed_options(const Recipe& recipe);

/// Makes a session run on all ranks of `ranks`; changes nothing for one rank. Only rank 0 prints
/// and saves the network. Each rank writes its part of a checkpoint FILE (rank 1: "FILE.rank-1"),
/// and resumes from its part of the newest checkpoint that all ranks have. A collective.
/// Throws: FormatError on every rank if they have no checkpoint of a common step. At training:
/// ValueError if the ranks cannot share the batch, Unsupported for an optimizer that is not a
/// `ThreeStepOptimizer`.
void distribute(SessionOptions& session, const DistributedOptions& options,
                const std::shared_ptr<Communicator>& ranks);

/// Whether a launcher such as mpirun started this process, even as the only rank.
[[nodiscard]] bool is_launched();

/// Divides the cores of this machine among its ranks (`set_threads`). No effect without a launcher.
void share_threads();

/// Trains by a recipe and its section "distributed" on all ranks of `ranks`. Returns one record per
/// metric, the same on every rank (`gather_records`). With several ranks it also measures
/// "communication_volume". With watched waits (`CallTimeout`) an interrupt of any rank ends all
/// ranks after the same batch. A collective.
/// Throws: on a rank whose training failed its own exception, and on those that would wait for it a
/// CommunicationError that names it (`Communicator::tell_failure`). The communicator is unusable
/// afterwards.
[[nodiscard]] std::vector<Measurement> train(const Recipe& recipe, SessionOptions session,
                                             const std::shared_ptr<Communicator>& ranks,
                                             const Interrupt& interrupt = {});

}  // namespace d5
