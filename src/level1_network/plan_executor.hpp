// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level1_network/execution_trace.hpp"
#include "d5/level1_network/feed.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "level1_network/compile.hpp"
#include "level1_network/plan_cache.hpp"

namespace d5 {

/// Throws: NotFound for an input whose gradient the plan does not compute, or without a plan.
[[nodiscard]] const Tensor& input_gradient_of(const Plan* plan, std::string_view name);

/// d5's own executor (`make_executor`).
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
    if (options_.memory_limit == 0 && options_.recompute == std::vector<std::string>{"auto"}) {
      throw ValueError(
          "recompute: 'auto' computes again as much as a memory limit asks for; set memory_limit "
          "(--memory), or name nodes or layers");
    }
    if (options_.device != Device{}) network_.place(options_.device);
    state_.seed = options_.seed;
    state_.iteration_budget = options_.iteration_budget;
    state_.memory_limit = options_.memory_limit;
  }

  const ValueMap& inference(const ValueMap& inputs) override {
    Plan& plan = plan_for(inputs, "");
    run_forward(plan, inputs);
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

  std::unique_ptr<BatchInFlight> forward(const ValueMap& inputs,
                                         const std::vector<std::string>& outputs) override;

  void set_mode(NetworkMode mode) override {
    mode_ = mode;
    current_ = last_ = nullptr;
    if (switches_ || mode == NetworkMode::as_written) return;
    switches_ = true;
    refresh();
    if (runnable_in(NetworkMode::training).updates != network_.updates()) plans_.clear();
  }
  NetworkMode mode() const override { return mode_; }

  void plan(const ValueMap& inputs, std::string_view loss) override {
    current_ = &plan_for(inputs, loss);
  }

  const Tensor& input_gradient(std::string_view name) const override {
    return input_gradient_of(last_, name);
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
  [[nodiscard]] PlannedMemory plan_memory(const ValueMap& inputs, std::string_view loss) {
    return d5::plan_memory(request_for(up_to_date(), inputs, {.loss = loss}), state_);
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

  class Flight;

  void run_forward(Plan& plan, const ValueMap& inputs) {
    begin(plan, inputs);
    if (observers_.empty()) {
      plan.run_forward();
    } else {
      for (auto* observer : observers_) observer->before_run(Pass::forward);
      plan.run_forward(observers_);
      for (auto* observer : observers_) observer->after_run(Pass::forward);
    }
    plan.finish();
  }

  /// Backward alone, of a forward run that was number `run`.
  void go_back(Plan& plan, std::uint32_t run) {
    struct RunNumber {
      std::uint32_t& number;
      const std::uint32_t last;
      ~RunNumber() { number = last; }
    };
    const RunNumber restored{state_.run, std::exchange(state_.run, run)};
    auto& parameters = network_.parameters();
    collect_observers();
    for (auto* observer : observers_) observer->before_run(Pass::backward);
    plan.run_backward(state_, parameters, observers_);
    for (auto* observer : observers_) observer->after_run(Pass::backward);
    synchronise();
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

  /// What is compiled: the network, as written or in a mode that changes it.
  struct Runnable {
    std::shared_ptr<const onnx::Graph> graph;
    std::map<std::string, std::string> updates;
    NetworkMode mode;
  };

  /// Where backward begins: at a scalar output, at outputs whose gradients are given, or nowhere.
  struct Start {
    std::string_view loss = {};
    std::set<std::string> seeds = {};
    [[nodiscard]] bool goes_back() const { return !loss.empty() || !seeds.empty(); }
  };

  Plan& plan_for(const ValueMap& inputs, std::string_view loss) {
    const Runnable& runnable = up_to_date();
    const Start start{.loss = loss};
    Plan* plan =
        plans_.find([&](const Plan& other) { return serves(other, runnable, inputs, start); });
    return plan ? *plan : plans_.add(make_plan(runnable, inputs, start));
  }

  static bool serves(const Plan& plan, const Runnable& runnable, const ValueMap& inputs,
                     const Start& start) {
    return plan.loss == start.loss && plan.given_seeds == start.seeds &&
           plan.network_mode == runnable.mode && fits(plan, inputs);
  }

  const Runnable& up_to_date() {
    current_ = nullptr;
    refresh();
    return runnable_in(mode_);
  }

  /// Forgets what was made of the network before an edit.
  void refresh() {
    if (revision_ == network_.revision()) return;
    plans_.clear();
    last_ = nullptr;
    runnables_.clear();
    revision_ = network_.revision();
  }

  const Runnable& runnable_in(NetworkMode mode) {
    if (const auto known = runnables_.find(mode); known != runnables_.end()) return known->second;
    GraphInMode changed = graph_in_mode(network_, mode);
    const auto in_force = changed.differs ? mode : NetworkMode::as_written;
    return runnables_[mode] = {std::make_shared<onnx::Graph>(std::move(changed.graph)),
                               std::move(changed.updates), in_force};
  }

  CompileRequest request_for(const Runnable& runnable, const ValueMap& inputs, const Start& start) {
    check_fed(network_, inputs);
    CompileRequest request{.graph = runnable.graph, .updates = runnable.updates};
    request.device = options_.device;
    request.outputs = options_.outputs;
    for (const auto& [name, value] : inputs) request.fed.emplace_back(name, value.desc());
    for (const auto& [name, tensor] : runnable.graph->initializers) {
      if (network_.is_parameter(name)) request.variables.insert(name);
    }
    // What runs in another mode overwrite is no constant in this one.
    const auto& updates = switches_ ? runnable_in(NetworkMode::training).updates : runnable.updates;
    for (const auto& [constant, output] : updates) request.variables.insert(constant);
    const bool trains = runnable.mode == NetworkMode::training ||
                        (runnable.mode == NetworkMode::as_written && start.goes_back());
    request.mode = trains ? Mode::training : Mode::inference;
    if (start.goes_back()) {
      if (!start.loss.empty()) expect_output(start.loss);
      for (const auto& name : start.seeds) expect_output(name);
      expect_inputs(options_.input_gradients);
      request.loss = start.loss;
      request.seeds = start.seeds;
      request.parameters = &network_.parameters();
      request.input_gradients = options_.input_gradients;
      request.recompute = options_.recompute;
    }
    state_.planned = 0;
    return request;
  }

  std::unique_ptr<Plan> make_plan(const Runnable& runnable, const ValueMap& inputs,
                                  const Start& start) {
    last_ = nullptr;  // the cache may drop its plan
    auto plan = compile(request_for(runnable, inputs, start), state_);
    plan->network_mode = runnable.mode;
    return plan;
  }

  void expect_output(std::string_view name) const {
    const auto names = network_.output_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw_unknown_name("output", name, names);
    }
  }
  void expect_inputs(const std::vector<std::string>& wanted) const {
    const auto names = network_.input_names();
    for (const auto& name : wanted) {
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
    const auto host = plan.arenas.find(Device{});
    state_.planned = host == plan.arenas.end() ? 0 : host->second.bytes();
    collect_observers();
  }

  void collect_observers() {
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
  NetworkMode mode_ = NetworkMode::as_written;
  bool switches_ = false;                      ///< it was set to another mode, and may be again
  std::map<NetworkMode, Runnable> runnables_;  ///< of this revision
  std::uint64_t revision_ = ~std::uint64_t{0};
  PlanCache plans_;
  const Plan* last_ = nullptr;     ///< of the last backpropagation
  const Plan* current_ = nullptr;  ///< of the last run, or made since
};

}  // namespace d5
