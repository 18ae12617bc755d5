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

/// Checks that the parameters of all ranks are bitwise equal, by checksums; if not, tensor by
/// tensor. `when` begins the message: "step 12". A collective.
/// Throws: CommunicationError on every rank, with the number of tensors that differ, the name of
/// the first, and the ranks in the minority.
void expect_equal_parameters(Network& network, Communicator& ranks, const std::string& when);

/// Calls `expect_equal_parameters` after every `every`th training step, on the ranks that train.
/// Throws: Unsupported, when training begins, for a scheme whose ranks have different parameters.
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

/// Describes the differences between the ranks' facts, in the same words on all ranks: "batch: 4 at
/// rank 0, 8 at rank 1; seed: ...". A missing fact is "not set". Empty if there is no difference. A
/// collective.
[[nodiscard]] std::string differing_facts(const std::map<std::string, std::string>& mine,
                                          Communicator& ranks);

/// Checks that all ranks were started with the same options and the same version of d5. A
/// collective.
/// Throws: CommunicationError on every rank, which names all differences.
void expect_same_start(std::map<std::string, std::string> options, Communicator& ranks);

/// Checks that all ranks are about to train the same: recipe, version of d5, data set (name, size,
/// known digests) and initial parameters.
///
///     const StartComparison start(recipe, session, ranks);
///     start.compare_recipes();
///     distribute(session, options, ranks);
///     start.add_to(session);
///
/// Throws: CommunicationError on every rank, which names all differences. If the recipes differ,
/// each rank makes the session without distribution to compare the rest too.
class StartComparison {
 public:
  /// `session` before `distribute`.
  StartComparison(const Recipe& recipe, const SessionOptions& session,
                  std::shared_ptr<Communicator> ranks);
  /// A collective.
  void compare_recipes() const;
  /// Makes `session` compare the rest on creation.
  void add_to(SessionOptions& session) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace d5
