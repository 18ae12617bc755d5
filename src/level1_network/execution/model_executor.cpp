// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution/model_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level1_network/execution/execution_trace.hpp"
#include "d5/level1_network/execution/feed.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/execution/compiled_network.hpp"
#include "level1_network/execution/within_run.hpp"

namespace d5 {
namespace {

class ModelExecutor final : public GraphExecutor {
 public:
  ModelExecutor(Network network, const ExecutorOptions& options, std::string framework,
                ModelCompiler compile)
      : network_(std::move(network)),
        options_(options),
        framework_(std::move(framework)),
        compile_(std::move(compile)) {
    if (options_.device != Device{}) {
      throw Unsupported(fmt::format("{}'s executor computes on the host, not on {}", framework_,
                                    to_string(options_.device)));
    }
    step_node_.op_type = framework_;
  }

  const ValueMap& inference(const ValueMap& inputs) override {
    const WithinRun within(within_run_);
    return run(compiled_for(inputs, ""), inputs, Pass::forward);
  }

  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override {
    const WithinRun within(within_run_);
    expect_output(loss);
    (void)network_.parameters();  // laying them out counts as an edit
    CompiledNetwork& compiled = compiled_for(inputs, loss);
    const ValueMap& outputs = run(compiled, inputs, Pass::backward);
    differentiated_ = ended_early_ ? nullptr : &compiled;
    return outputs;
  }

  const Tensor& gradient(std::string_view name) const override {
    if (const Tensor* found = differentiated_ ? differentiated_->gradient(name) : nullptr) {
      return *found;
    }
    throw NotFound(
        fmt::format("there is no gradient of '{}': name it in the option gradients, and run "
                    "backpropagation",
                    printable(name)));
  }

  void plan(const ValueMap& inputs, std::string_view loss) override {
    if (!loss.empty()) {
      expect_output(loss);
      (void)network_.parameters();
    }
    (void)compiled_for(inputs, loss);
  }

  void end_run() override { end_wanted_ = true; }
  bool ended_early() const override { return ended_early_; }
  void set_mode(NetworkMode mode) override { mode_ = mode; }
  NetworkMode mode() const override { return mode_; }
  ValueMap state() const override { return {}; }
  void restore(const ValueMap&) override {}
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return framework_; }

  /// The one that ran or was planned last; null before.
  [[nodiscard]] const CompiledNetwork* last() const {
    return compiled_.empty() ? nullptr : compiled_.front().get();
  }

 private:
  static constexpr std::size_t kMost = 4;  // limit on compiled networks, which hold weights

  void expect_output(std::string_view name) const {
    const auto names = network_.output_names();
    if (std::ranges::find(names, name) == names.end()) throw_unknown_name("output", name, names);
  }

  CompiledNetwork& compiled_for(const ValueMap& inputs, std::string_view loss) {
    if (revision_ != network_.revision()) compiled_.clear();
    revision_ = network_.revision();
    differentiated_ = nullptr;
    const std::uint64_t values = network_.value_changes();
    std::erase_if(compiled_, [&](const auto& one) { return one->is_over(values); });
    const CompiledNetwork::Purpose purpose{.mode = mode_,
                                           .loss = loss,
                                           .threads = threads(),
                                           .profiled = Trace::on(),
                                           .value_changes = values};
    const auto known = std::ranges::find_if(
        compiled_, [&](const auto& other) { return other->serves(purpose, inputs); });
    if (known != compiled_.end()) {
      std::rotate(compiled_.begin(), known, known + 1);
      return *compiled_.front();
    }
    check_fed(network_, inputs);
    auto compiled =
        std::make_unique<CompiledNetwork>(network_, purpose, inputs, options_, compile_);
    if (compiled_.size() == kMost) compiled_.pop_back();
    return **compiled_.insert(compiled_.begin(), std::move(compiled));
  }

  /// Runs the network as a single step and a single pass.
  const ValueMap& run(CompiledNetwork& compiled, const ValueMap& inputs, Pass pass) {
    end_wanted_ = ended_early_ = false;
    events_.collect(observers_);
    if (Trace::on()) [[unlikely]]
      observers_.push_back(&trace_);
    step_node_.name = network_.name();
    const StepInfo step{
        .node = step_node_, .path = step_node_.name, .pass = pass, .framework = framework_};
    for (auto* observer : observers_) observer->before_run(pass);
    for (auto* observer : observers_) observer->before_pass(pass);
    ended_early_ = end_wanted_;
    if (!ended_early_) {
      for (auto* observer : observers_) observer->before_node(step);
      const std::uint64_t before = network_.value_changes();
      compiled.run(inputs, network_);
      for (const auto& other : compiled_) other->follow(compiled, before);
      for (auto* observer : observers_) observer->after_node(step);
      if (pass == Pass::backward) announce_gradients();
    }
    for (auto* observer : observers_) observer->after_pass(pass);
    for (auto* observer : observers_) observer->after_run(pass);
    return ended_early_ ? nothing_ : compiled.outputs();
  }

  void announce_gradients() {
    if (!options_.parameter_gradients) return;
    auto& parameters = network_.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      for (auto* observer : observers_) {
        observer->gradient_ready(parameters[i], i, host_stream());
      }
    }
  }

  Network network_;
  ExecutorOptions options_;
  std::string framework_;
  ModelCompiler compile_;
  onnx::Node step_node_;
  EventList events_;
  ExecutionTrace trace_{*this};
  std::vector<ExecutionEvent*> observers_;
  bool within_run_ = false, end_wanted_ = false, ended_early_ = false;
  NetworkMode mode_ = NetworkMode::as_written;
  std::uint64_t revision_ = ~std::uint64_t{0};
  std::vector<std::unique_ptr<CompiledNetwork>> compiled_;  ///< the last used first
  const CompiledNetwork* differentiated_ = nullptr;         ///< used by the last backpropagation
  const ValueMap nothing_;
};

}  // namespace

const std::vector<PlannedUpdate>* updates_of_model(const GraphExecutor& executor) {
  const auto* model = dynamic_cast<const ModelExecutor*>(&executor);
  return model && model->last() ? &model->last()->planned_updates() : nullptr;
}

std::unique_ptr<GraphExecutor> make_model_executor(Network network, const ExecutorOptions& options,
                                                   std::string framework, ModelCompiler compile) {
  return std::make_unique<ModelExecutor>(std::move(network), options, std::move(framework),
                                         std::move(compile));
}

}  // namespace d5
