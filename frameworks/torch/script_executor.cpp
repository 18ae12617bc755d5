// SPDX-License-Identifier: Apache-2.0
#include "script_executor.hpp"

#include <optional>

#include "call_spans.hpp"
#include "d5/core/error.hpp"
#include "d5/level1_network/execution_trace.hpp"
#include "d5/level1_network/feed.hpp"
#include "scripted_network.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

class ScriptExecutor final : public GraphExecutor {
 public:
  ScriptExecutor(Network network, const ExecutorOptions& options, const OperatorRegistry& operators)
      : network_(std::move(network)), options_(options), operators_(operators) {
    if (!options.gradients.empty()) throw_no_gradients();
  }

  const ValueMap& inference(const ValueMap& inputs) override {
    plan(inputs);
    events_.collect(observers_);
    CallSpans::follow_trace();
    if (Trace::on()) [[unlikely]]
      observers_.push_back(&trace_);
    for (auto* observer : observers_) observer->before_run(Pass::forward);
    for (auto* observer : observers_) observer->before_pass(Pass::forward);
    try {
      outputs_ = scripted_->run(inputs);
    } catch (...) {
      rethrow("torch:script");
    }
    for (auto* observer : observers_) observer->after_pass(Pass::forward);
    for (auto* observer : observers_) observer->after_run(Pass::forward);
    return outputs_;
  }

  const ValueMap& inference_and_backprop(const ValueMap&, std::string_view) override {
    throw_no_gradients();
  }
  const Tensor& gradient(std::string_view) const override { throw_no_gradients(); }

  void plan(const ValueMap& inputs, std::string_view loss = {}) override {
    if (!loss.empty()) throw_no_gradients();
    if (scripted_ && made_of_ == network_.value_changes() && scripted_->fits(inputs)) return;
    check_fed(network_, inputs);
    scripted_.reset();
    try {
      scripted_.emplace(network_, mode_, options_, operators_, inputs);
    } catch (...) {
      rethrow("torch:script");
    }
    made_of_ = network_.value_changes();  // recording has asked for the parameters, too
  }

  void set_mode(NetworkMode mode) override {
    if (mode != mode_) scripted_.reset();
    mode_ = mode;
  }
  NetworkMode mode() const override { return mode_; }
  ValueMap state() const override { return {}; }
  void restore(const ValueMap&) override {}
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return "torch"; }

 private:
  [[noreturn]] static void throw_no_gradients() {
    throw Unsupported(
        "torch:script runs frozen networks, which have no gradients; torch and torch:torch have");
  }

  Network network_;
  ExecutorOptions options_;
  const OperatorRegistry& operators_;
  EventList events_;
  ExecutionTrace trace_{*this};
  std::vector<ExecutionEvent*> observers_;
  NetworkMode mode_ = NetworkMode::as_written;
  std::optional<ScriptedNetwork> scripted_;
  std::uint64_t made_of_ = 0;
  ValueMap outputs_;
};

}  // namespace

std::unique_ptr<GraphExecutor> make_script_executor(Network network, const ExecutorOptions& options,
                                                    const OperatorRegistry& operators) {
  return std::make_unique<ScriptExecutor>(std::move(network), options, operators);
}

}  // namespace d5::torch
