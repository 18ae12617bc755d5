// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level1_network/execution_trace.hpp"
#include "d5/level1_network/feed.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "level1_network/compile.hpp"
#include "level1_network/plan_cache.hpp"

namespace d5 {
namespace {

class PlanExecutor final : public GraphExecutor {
 public:
  PlanExecutor(Network network, ExecutorOptions options)
      : network_(std::move(network)), options_(std::move(options)) {
    if (options_.frameworks.empty()) throw ValueError("an executor needs at least one framework");
    for (const auto& name : options_.frameworks) {
      if (!framework_.empty()) framework_ += ',';
      framework_ += name;
      if (name == "auto") {
        add_candidates();
      } else {
        state_.registries.push_back(&d5::framework(name).part<OperatorRegistry>());
      }
    }
    for (const OperatorRegistry* registry : state_.frameworks()) {
      if (!state_.framework_names.empty()) state_.framework_names += ',';
      state_.framework_names += registry->framework();
    }
    if (options_.device != Device{}) network_.place(options_.device);
    state_.seed = options_.seed;
    state_.iteration_budget = options_.iteration_budget;
  }

  const ValueMap& inference(const ValueMap& inputs) override {
    Plan& plan = plan_for(inputs, "");
    begin(plan, inputs);
    if (observers_.empty()) {
      plan.run_forward();
    } else {
      for (auto* observer : observers_) observer->before_run(Pass::forward);
      plan.run_forward(observers_);
      for (auto* observer : observers_) observer->after_run(Pass::forward);
    }
    plan.finish();
    return plan.outputs;
  }

  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override {
    auto& parameters = network_.parameters();
    Plan& plan = plan_for(inputs, loss);
    begin(plan, inputs);
    if (observers_.empty()) {
      plan.run_forward();
      plan.run_backward(state_);
    } else {
      for (auto* observer : observers_) observer->before_run(Pass::backward);
      plan.run_forward(observers_);
      plan.run_backward(state_, parameters, observers_);
      for (auto* observer : observers_) observer->after_run(Pass::backward);
    }
    plan.finish();
    last_ = &plan;
    return plan.outputs;
  }

  void plan(const ValueMap& inputs, std::string_view loss) override {
    current_ = &plan_for(inputs, loss);
  }

  const Tensor& input_gradient(std::string_view name) const override {
    if (last_) {
      const auto place = last_->input_gradients.find(name);
      if (place != last_->input_gradients.end()) return *place->second.tensor;
    }
    throw NotFound(
        fmt::format("there is no gradient of input '{}': ask for it in "
                    "ExecutorOptions::input_gradients and run backpropagation",
                    printable(name)));
  }

  void synchronise() override {
    for (auto& [device, stream] : state_.streams) stream->synchronise();
  }

  ValueMap state() const override { return {{"runs", Tensor::scalar(std::int64_t{state_.run})}}; }
  void restore(const ValueMap& state) override {
    const auto runs = state.find("runs");
    if (runs == state.end()) {
      throw NotFound("the executor's state lacks 'runs': another kind of executor saved it");
    }
    state_.run = static_cast<std::uint32_t>(runs->second.tensor().item<std::int64_t>());
  }

  [[nodiscard]] PlannedMemory memory() const {
    return current_ ? current_->memory : PlannedMemory{};
  }

  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return framework_; }

 private:
  /// Every framework that can be loaded here.
  void add_candidates() {
    for (const auto& info : d5::frameworks()) {
      try {
        state_.candidates.push_back(&d5::framework(info.name).part<OperatorRegistry>());
      } catch (const Error&) {
        // `d5::frameworks` says why to who asks; here it is no candidate.
      }
    }
  }

  static bool fits(const Plan& plan, const ValueMap& inputs) {
    if (plan.inputs.size() != inputs.size()) return false;
    auto fed = inputs.begin();
    for (const auto& input : plan.inputs) {
      const Value& value = fed->second;
      if (fed->first != input.name || value.kind() != input.desc.kind) return false;
      if (value.is_tensor() && value.tensor().desc() != input.desc.tensor) return false;
      ++fed;
    }
    return true;
  }

  Plan& plan_for(const ValueMap& inputs, std::string_view loss) {
    current_ = nullptr;
    if (revision_ != network_.revision() || !graph_) {
      plans_.clear();
      last_ = nullptr;
      graph_ = std::make_shared<onnx::Graph>(network_.graph());
      revision_ = network_.revision();
    }
    Plan* plan = plans_.find(
        [&](const Plan& candidate) { return candidate.loss == loss && fits(candidate, inputs); });
    return plan ? *plan : plans_.add(make_plan(inputs, loss));
  }

  std::unique_ptr<Plan> make_plan(const ValueMap& inputs, std::string_view loss) {
    check_fed(network_, inputs);
    CompileRequest request{.graph = graph_, .updates = network_.updates()};
    request.device = options_.device;
    request.outputs = options_.outputs;
    for (const auto& [name, value] : inputs) request.fed.emplace_back(name, value.desc());
    for (const auto& [name, tensor] : graph_->initializers) {
      if (network_.is_parameter(name)) request.variables.insert(name);
    }
    if (!loss.empty()) {
      check_loss(loss);
      request.mode = Mode::training;
      request.loss = loss;
      request.parameters = &network_.parameters();
      request.input_gradients = options_.input_gradients;
    }
    last_ = nullptr;  // the cache may drop its plan
    return compile(request, state_);
  }

  void check_loss(std::string_view loss) const {
    const auto outputs = network_.output_names();
    if (std::find(outputs.begin(), outputs.end(), loss) == outputs.end()) {
      throw_unknown_name("output", loss, outputs);
    }
    const auto names = network_.input_names();
    for (const auto& name : options_.input_gradients) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw_unknown_name("input", name, names);
      }
    }
  }

  void begin(Plan& plan, const ValueMap& inputs) {
    auto fed = inputs.begin();
    current_ = &plan;
    for (auto& input : plan.inputs) *input.value = (fed++)->second;
    ++state_.run;
    state_.nested_runs = 0;
    events_.collect(observers_);
    if (Trace::on()) [[unlikely]]
      observers_.push_back(&trace_);
  }

  Network network_;
  ExecutorOptions options_;
  std::string framework_;
  RunState state_;
  EventList events_;
  ExecutionTrace trace_{*this};
  std::vector<ExecutionEvent*> observers_;
  std::shared_ptr<const onnx::Graph> graph_;
  std::uint64_t revision_ = 0;
  PlanCache plans_;
  const Plan* last_ = nullptr;     ///< of the last backpropagation
  const Plan* current_ = nullptr;  ///< of the last run, or made since
};

}  // namespace

std::unique_ptr<GraphExecutor> make_executor(Network network, ExecutorOptions options) {
  return std::make_unique<PlanExecutor>(std::move(network), std::move(options));
}

PlannedMemory planned_memory(const GraphExecutor& executor) {
  const auto* planned = dynamic_cast<const PlanExecutor*>(&executor);
  return planned ? planned->memory() : PlannedMemory{};
}

}  // namespace d5
