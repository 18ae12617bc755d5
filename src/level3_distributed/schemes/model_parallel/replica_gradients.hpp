// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"

namespace d5::detail {

/// Makes an optimizer sum the gradients of its part during backpropagation over the ranks with the
/// same part, weighted by their shares of the samples. A collective of `replicas`.
void add_replica_gradients(ThreeStepOptimizer& optimizer, std::shared_ptr<Communicator> replicas,
                           const EntryChoice& all_reduce, std::int64_t bucket_bytes);

/// The agreement of ranks that hold parts of models.
class ModelAgreement final : public CommunicatorAgreement {
 public:
  /// `counts`: the weight of each parameter's gradient in a sum over all ranks.
  ModelAgreement(std::shared_ptr<Communicator> ranks, int ranks_of_model,
                 std::vector<double> counts)
      : CommunicatorAgreement(std::move(ranks)),
        ranks_of_model_(ranks_of_model),
        counts_(std::move(counts)) {}
  [[nodiscard]] int ranks_of_model() const override { return ranks_of_model_; }
  [[nodiscard]] double share_of(std::size_t parameter) const override {
    return counts_.at(parameter);
  }

 private:
  int ranks_of_model_;
  std::vector<double> counts_;
};

}  // namespace d5::detail
