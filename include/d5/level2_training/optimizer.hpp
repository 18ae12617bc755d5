// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entry.hpp"
#include "d5/core/registry.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level2_training/batch_feed.hpp"
#include "d5/level2_training/sampler.hpp"

namespace d5 {

/// Trains a network, batch by batch.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Runs the network forward and backward on `batch` and updates its parameters. Returns the
  /// network's outputs, the loss among them; valid until the next run.
  virtual const ValueMap& step(const Batch& batch) = 0;
  [[nodiscard]] virtual GraphExecutor& executor() = 0;
  [[nodiscard]] virtual const std::string& loss() const = 0;
  /// Everything that resuming needs besides the parameters: moments, step counts; empty where there
  /// is nothing.
  [[nodiscard]] virtual ValueMap state() const = 0;
  /// Throws: NotFound, ShapeError for a state that is not this optimizer's.
  virtual void restore(const ValueMap& state) = 0;
};

/// An optimizer in three steps, the seam that makes any optimizer distributable: what happens
/// before a batch, before a parameter is read, and how a gradient changes a parameter.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), section IV-E.
class ThreeStepOptimizer : public Optimizer {
 public:
  /// `loss` names the network's scalar output.
  ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss);

  /// Called once a step, before anything else.
  virtual void new_input() {}
  /// Called once a parameter and step, before the forward run.
  virtual void prepare_param(Parameter& parameter) { (void)parameter; }
  /// Called once a parameter and step with its final gradient.
  virtual void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) = 0;

  /// new_input, prepare_param for all, forward and backward, update_rule for all.
  const ValueMap& step(const Batch& batch) override;
  [[nodiscard]] GraphExecutor& executor() override { return *executor_; }
  [[nodiscard]] const std::string& loss() const override { return loss_; }

  /// The batch's values that the network has inputs for; others (a label it does not take) are left
  /// out.
  [[nodiscard]] const ValueMap& feed(const Batch& batch) {
    return feed_.of(executor_->network(), batch);
  }
  /// `prepare_param` and `update_rule` for parameter `index`. One that lies on a device is brought
  /// to the host and back: the rules of optimizers see the host's memory alone.
  void prepare(std::size_t index);
  void update(std::size_t index);

 private:
  /// The host's twin of a parameter that lies on a device.
  [[nodiscard]] Parameter& twin_of(const Parameter& parameter, std::size_t index);

  std::shared_ptr<GraphExecutor> executor_;
  std::string loss_;
  BatchFeed feed_;
  std::vector<Parameter> twins_;
};

/// An optimizer that is nothing but an update rule of gradient, old value and own state.
class UpdateRuleOptimizer : public ThreeStepOptimizer {
 public:
  using ThreeStepOptimizer::ThreeStepOptimizer;
};

/// Its summary names the paper.
using OptimizerEntry =
    Entry<std::shared_ptr<Optimizer>(std::shared_ptr<GraphExecutor>, std::string loss)>;
/// d5's own optimizers, and a user's.
///
///     auto adam = optimizers().at("adam").make(executor, "loss", {{"learning_rate", 0.01}});
[[nodiscard]] Registry<OptimizerEntry>& optimizers();
/// A framework's native optimizers: a part of `Framework`.
class NativeOptimizers : public Registry<OptimizerEntry> {
 public:
  NativeOptimizers() : Registry("native optimizer") {}
};
/// One of `optimizers()`, or a framework's own: "torch/adam". Throws: NotFound, Unsupported.
[[nodiscard]] const OptimizerEntry& find_optimizer(std::string_view name);

}  // namespace d5
