// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level2_training/gradient_source.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/communicator_agreement.hpp"

namespace d5::detail {

/// Gradients of a rank that holds part of a model: those of its own parameters, summed over the
/// ranks that have the same part, by their shares of the samples.
class ReplicaGradients final : public GradientDecorator {
 public:
  /// `own`: the parameters whose gradients this rank computes, in ascending ranges.
  ReplicaGradients(std::shared_ptr<GradientSource> inner, std::shared_ptr<Communicator> replicas,
                   std::shared_ptr<AllReduce> all_reduce, std::vector<ParameterRange> own);

  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return own_.size(); }
  ParameterRange finish(std::size_t part) override;
  [[nodiscard]] bool announces() const override { return false; }
  [[nodiscard]] bool in_shares() override { return true; }
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;

 private:
  void sum_over_replicas();

  std::shared_ptr<Communicator> replicas_;
  CommunicatorAgreement agreement_;
  std::shared_ptr<AllReduce> all_reduce_;
  std::vector<ParameterRange> own_;
};

/// What ranks that hold models together agree on.
class ModelAgreement final : public CommunicatorAgreement {
 public:
  /// `counts`: how much each parameter's gradient counts in a sum over all ranks.
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
