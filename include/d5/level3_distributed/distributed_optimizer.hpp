// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "d5/core/entry.hpp"
#include "d5/core/registry.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5 {

/// Makes a three-step optimizer distributed: it holds the optimizer and speaks through a
/// communicator, over which the optimizer's ranks agree (`CommunicatorAgreement`) unless the scheme
/// gives it another agreement.
class DistributedOptimizer : public Optimizer {
 public:
  DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                       std::shared_ptr<Communicator> communicator);
  [[nodiscard]] GraphExecutor& executor() override { return optimizer_->executor(); }
  [[nodiscard]] const std::string& loss() const override { return optimizer_->loss(); }
  [[nodiscard]] ValueMap state() const override { return optimizer_->state(); }
  void restore(const ValueMap& state) override { optimizer_->restore(state); }
  [[nodiscard]] HyperParameters& hyper_parameters() override {
    return optimizer_->hyper_parameters();
  }
  void begin_test() override { optimizer_->begin_test(); }
  void end_test() override { optimizer_->end_test(); }
  void tested(double loss, std::int64_t samples) override { optimizer_->tested(loss, samples); }
  [[nodiscard]] RankAgreement& agreement() override { return optimizer_->agreement(); }
  void read_gradients(GradientReader reader) override {
    optimizer_->read_gradients(std::move(reader));
  }
  /// What a record of this training says besides the options: what they left open.
  [[nodiscard]] virtual std::map<std::string, std::string> conditions() const { return {}; }
  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  [[nodiscard]] ThreeStepOptimizer& local() { return *optimizer_; }

 protected:
  [[nodiscard]] const std::shared_ptr<Communicator>& shared_communicator() const {
    return communicator_;
  }

 private:
  std::shared_ptr<ThreeStepOptimizer> optimizer_;
  std::shared_ptr<Communicator> communicator_;
};

using DistributedOptimizerEntry = Entry<std::shared_ptr<DistributedOptimizer>(
    std::shared_ptr<ThreeStepOptimizer>, std::shared_ptr<Communicator>)>;
/// All schemes by name. A scheme that sums gradients has an option "all_reduce", the algorithm.
[[nodiscard]] Registry<DistributedOptimizerEntry>& distributed_optimizers();

}  // namespace d5
