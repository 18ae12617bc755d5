// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "level2_training/optimization/kept_outputs.hpp"

namespace d5::detail {

/// Base of optimizers that treat all parameters as one vector, and evaluate gradients of a step's
/// batch at other points, too. Outputs of a step are those of its first run.
class VectorOptimizer : public ThreeStepOptimizer {
 public:
  /// `name` is for messages: "lbfgs".
  VectorOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss, std::string name);

  [[nodiscard]] bool prepares_params() const final { return false; }
  [[nodiscard]] bool wants_all_gradients() const final { return true; }
  const ValueMap& step(const Batch& batch) final;
  void new_input() final;
  void update_rule(const Tensor&, Parameter&, std::size_t) final;
  void forget_others() final;

 protected:
  [[nodiscard]] const Batch& batch() const { return *batch_; }
  [[nodiscard]] const ValueMap& outputs() const { return outputs_.all(); }
  /// Runs the step's batch with the current parameters; its gradients are final when it returns.
  /// Throws: Unsupported if an observer ends it early.
  const ValueMap& run_again();
  [[nodiscard]] const Tensor& entry(const ValueMap& state, const std::string& key) const;
  [[nodiscard]] std::vector<double> vector(const ValueMap& state, const std::string& key) const;

 private:
  std::string who_;
  const Batch* batch_ = nullptr;
  KeptOutputs outputs_;
  bool in_step_ = false;
};

}  // namespace d5::detail
