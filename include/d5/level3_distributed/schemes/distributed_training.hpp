// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// How ranks train together.
struct DistributedOptions {
  EntryChoice scheme{"consistent_decentralized"};
  /// "strong": the recipe's batch is shared by all ranks, so that training is the same as on one.
  /// "weak": every rank takes a batch of the recipe's size.
  std::string scaling = "strong";
  EntryChoice samples{"partition"};     ///< of `sample_cuts`: of the training set
  EntryChoice test_samples{"batches"};  ///< of the test set
  /// Of what the scheme draws at random: the training's.
  std::uint64_t seed = 0;
};

/// The recipe's section "distributed". Throws: NotFound for names that stand nowhere, on one rank
/// too; ValueError for values.
[[nodiscard]] DistributedOptions distributed_options(const Recipe& recipe);

/// Makes a session run on all ranks of `ranks`; nothing changes for one rank. Rank 0 alone speaks
/// and writes the network that is saved. Of a checkpoint FILE each rank writes its part, rank 1
/// "FILE.rank-1", and resumes from its part of the newest that all have. A collective. Throws:
/// FormatError on every rank where they have no part of one step. At training: ValueError if the
/// ranks cannot share the batch, Unsupported for an optimizer that is no three-step one.
void distribute(SessionOptions& session, const DistributedOptions& options,
                const std::shared_ptr<Communicator>& ranks);

/// Whether a launcher such as mpirun started this process, be it as the only rank.
[[nodiscard]] bool is_launched();

/// Divides the cores of this machine among its ranks. No effect without a launcher.
void share_threads();

/// Trains by a recipe, as its section "distributed" says, on all ranks of `ranks`: one record a
/// metric, the same on every rank, as `gather_records` joins them. With several ranks
/// "communication_volume" is measured too. Where waits are watched (`CallTimeout`), an interrupt of
/// any rank ends them all after the same batch. A collective. Throws: at a rank whose training
/// failed, what it threw there, and CommunicationError, which names it, at those that would wait
/// for it
/// (`Communicator::tell_failure`); such a communicator is of no more use.
[[nodiscard]] std::vector<Measurement> train(const Recipe& recipe, SessionOptions session,
                                             const std::shared_ptr<Communicator>& ranks,
                                             const Interrupt& interrupt = {});

}  // namespace d5
