// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/training_event.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

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

/// How facts of the ranks differ, in words that are the same on all: "batch: 4 at rank 0, 8 at rank
/// 1; seed: ..."; a fact that a rank lacks is "not set" there. Empty where they do not. A
/// collective.
[[nodiscard]] std::string differing_facts(const std::map<std::string, std::string>& mine,
                                          Communicator& ranks);

/// Compares by what options ranks were started, and d5's version. A collective.
/// Throws: CommunicationError on every rank, which names all that differs.
void expect_same_start(std::map<std::string, std::string> options, Communicator& ranks);

/// Compares what ranks are about to train: recipe and d5's version, the data set (name, size,
/// digests where they are known), initial parameters: the same seed gives the same ones.
///
///     const StartComparison start(recipe, session, ranks);
///     start.compare_recipes();
///     distribute(session, options, ranks);
///     start.add_to(session);
///
/// Throws: CommunicationError on every rank, which names all that differs, of whichever kind: where
/// something does, each rank makes the session without distribution, to know the rest.
class StartComparison {
 public:
  /// `session` as it is on one rank.
  StartComparison(const Recipe& recipe, const SessionOptions& session,
                  std::shared_ptr<Communicator> ranks);
  /// A collective.
  void compare_recipes() const;
  /// Makes a session compare the rest when it is made.
  void add_to(SessionOptions& session) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace d5
