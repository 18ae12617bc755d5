// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "d5/level2_training/optimization/rank_agreement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Agreement of a communicator's ranks. Each rank gathers all numbers and sums them in rank order,
/// so the bits are the same whatever algorithm moves them.
///
/// If only some ranks train, a scheme gives their agreement to its optimizer:
///
///     local().set_agreement(std::make_shared<CommunicatorAgreement>(workers));
///
/// Throws: what the communicator throws.
class CommunicatorAgreement : public RankAgreement {
 public:
  explicit CommunicatorAgreement(std::shared_ptr<Communicator> group) : group_(std::move(group)) {}
  [[nodiscard]] int ranks() const override { return group_->size(); }
  [[nodiscard]] bool is_alone() const override { return false; }
  [[nodiscard]] bool end_together(bool wishes) override { return group_->end_together(wishes); }

 private:
  void do_sum(std::span<double> values) override;

  std::shared_ptr<Communicator> group_;
};

}  // namespace d5
