// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "level1_network/execution/plan_executor.hpp"
#include "level1_network/mixture/fused_network.hpp"

namespace d5 {

/// Inference of a network with normalizations and activations fused into the nodes before them:
/// d5's plan of a second network, which follows the edits and values of this one.
class FusedExecutor final : public GraphExecutor {
 public:
  FusedExecutor(Network network, ExecutorOptions options, SelectionOptions selection);

  /// Throws: Unsupported if nothing can be fused.
  const ValueMap& inference(const ValueMap& inputs) override;
  /// Throws: Unsupported.
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override;
  const Tensor& gradient(std::string_view name) const override { return gradient_of({}, name); }
  void end_run() override;
  bool ended_early() const override { return plan_ && plan_->ended_early(); }
  void set_mode(NetworkMode mode) override { mode_ = mode; }
  NetworkMode mode() const override { return mode_; }
  void plan(const ValueMap& inputs, std::string_view loss) override;
  ValueMap state() const override;
  void restore(const ValueMap& state) override;
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override;

  /// Plan of the fused network; null before the first run.
  [[nodiscard]] const PlanExecutor* planned() const { return plan_.get(); }

 private:
  /// State of the original network from which the fused one was made.
  struct Origin {
    NetworkMode mode;
    std::uint64_t revision, value_changes;
  };
  PlanExecutor& up_to_date();

  Network network_;
  ExecutorOptions options_;
  SelectionOptions selection_;
  EventList events_;
  NetworkMode mode_ = NetworkMode::as_written;
  Origin origin_ = {};
  std::unique_ptr<PlanExecutor> plan_;
  ValueMap state_;  ///< initial state of a plan
};

}  // namespace d5
