// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "d5/level2_training/optimization/rank_agreement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// The agreement of a communicator's ranks. Numbers are gathered and summed in the order of ranks,
/// on each of them: the same bits, whatever algorithm carries them.
///
/// A scheme in which only some ranks train gives theirs to its optimizer:
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
