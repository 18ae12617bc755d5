// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "d5/level1_network/network.hpp"
#include "d5/level2_training/recipe.hpp"
#include "d5/level2_training/training_event.hpp"
#include "d5/level2_training/training_session.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5 {

/// Compares the parameters of all ranks by checksums, bit by bit; of each tensor where they differ.
/// `when` begins the message: "step 12". A collective.
/// Throws: CommunicationError on every rank, with the tensors that differ, the first by name, and
/// the ranks in the minority.
void expect_equal_parameters(Network& network, Communicator& ranks, const std::string& when);

/// Does it after every `every`th step of training, among those that train.
/// Throws: Unsupported, when training begins, for a scheme whose ranks have parameters of their
/// own.
class RankCheck final : public TrainingEvent {
 public:
  /// Throws: ValueError for `every` below 1.
  RankCheck(std::shared_ptr<Communicator> ranks, std::int64_t every);
  void before_training(Trainer& trainer) override;
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;

 private:
  std::shared_ptr<Communicator> ranks_;
  std::int64_t every_;
};

/// Compares what ranks are about to train: the recipe, value by value, and d5's version. A
/// collective. Throws: CommunicationError on every rank that names all that differs.
void expect_equal_recipes(const Recipe& recipe, Communicator& ranks);

/// Makes a session compare, when it is made, its data set (name, size, digests where they are
/// known) and, unless it is resumed, its initial parameters with those of the other ranks': the
/// same seed gives the same ones. Throws then: as `expect_equal_recipes`.
void compare_start(SessionOptions& session, const std::shared_ptr<Communicator>& ranks);

}  // namespace d5
