// SPDX-License-Identifier: Apache-2.0
#include "level1_network/execution/plan_executor.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "level1_network/plan/memory_overlap.hpp"

namespace d5 {
namespace {

/// Announces nested graphs to observers until the end of a run.
class Observed {
 public:
  Observed(RunState& state, std::span<ExecutionEvent* const> observers) : state_(state) {
    state_.observers = observers;
  }
  ~Observed() { state_.observers = {}; }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  RunState& state_;
};

/// Copies the constants that a plan updates in place, and restores them unless it is released: a
/// run that an observer ended carries out no update.
class KeptConstants {
 public:
  explicit KeptConstants(Plan& plan) : plan_(plan) {
    for (const Plan::Update& update : plan.in_place) copies_.push_back(update.constant.copy());
  }
  ~KeptConstants() {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      plan_.in_place[i].constant.copy_from(copies_[i]);
    }
  }
  KeptConstants(const KeptConstants&) = delete;
  KeptConstants& operator=(const KeptConstants&) = delete;
  void release() { copies_.clear(); }

 private:
  Plan& plan_;
  std::vector<Tensor> copies_;
};

/// Replaces an input by a copy if the run would change its memory: a tensor fetched from the
/// network.
void set_apart(const Plan& plan, Value& input) {
  if (!input.is_tensor()) return;
  for (const Plan::Update& update : plan.in_place) {
    if (!overlap(input.tensor(), update.constant)) continue;
    input = input.tensor().copy();
    return;
  }
}

}  // namespace

PlanExecutor::PlanExecutor(Network network, ExecutorOptions options, SelectionOptions selection)
    : network_(std::move(network)), options_(std::move(options)), selection_(std::move(selection)) {
  state_.frameworks = framework_choice(options_.frameworks);
  for (const PlacementRule& rule : options_.placement) {
    state_.placed.push_back({rule, framework_choice(frameworks_of(rule))});
  }
  if (options_.device != Device{}) network_.place(options_.device);
  state_.seed = options_.seed;
  state_.iteration_budget = options_.iteration_budget;
  state_.memory_limit = options_.memory_limit;
}

const ValueMap& PlanExecutor::inference(const ValueMap& inputs) {
  const WithinRun within(within_run_);
  Plan& plan = plan_for(inputs, "");
  begin(plan, inputs);
  return run(plan, Pass::forward);
}

const ValueMap& PlanExecutor::inference_and_backprop(const ValueMap& inputs,
                                                     std::string_view loss) {
  const WithinRun within(within_run_);
  (void)network_.parameters();  // laying them out counts as an edit
  Plan& plan = plan_for(inputs, loss);
  begin(plan, inputs);
  const ValueMap& outputs = run(plan, Pass::backward);
  last_ = ended_early_ ? nullptr : &plan;
  return outputs;
}

void PlanExecutor::set_mode(NetworkMode mode) {
  expect_no_run(within_run_);
  mode_ = mode;
  current_ = last_ = nullptr;
  if (switches_ || mode == NetworkMode::as_written) return;
  switches_ = true;
  refresh();
  if (runnable_in(NetworkMode::training).updates != network_.updates()) plans_.clear();
}

void PlanExecutor::synchronise() {
  for (auto& [device, stream] : state_.streams) stream->synchronise();
}

void PlanExecutor::restore(const ValueMap& state) {
  const auto runs = state.find("runs");
  if (runs == state.end()) {
    throw NotFound("the executor's state lacks 'runs': another kind of executor saved it");
  }
  state_.run = static_cast<std::uint32_t>(runs->second.tensor().item<std::int64_t>());
}

std::string PlanExecutor::framework() const {
  return fmt::format("{}", fmt::join(options_.frameworks, ","));
}

const ValueMap& PlanExecutor::run(Plan& plan, Pass pass) {
  const bool goes_back = pass == Pass::backward;
  if (observers_.empty()) {
    plan.run_forward(network_.value_changes());
    if (goes_back) plan.run_backward(state_);
    return finish(plan);
  }
  const Observed observed(state_, observers_);
  KeptConstants kept(plan);
  for (auto* observer : observers_) observer->before_run(pass);
  const std::size_t done = plan.run_forward(network_.value_changes(), {observers_, end_wanted_});
  ended_early_ = done < plan.forward.size() || (goes_back && !run_backward(plan));
  for (auto* observer : observers_) observer->after_run(pass);
  if (ended_early_) return outputs_left_ = plan.finish_early(done);
  kept.release();
  return finish(plan);
}

const ValueMap& PlanExecutor::finish(Plan& plan) {
  plan.finish();
  if (plan.planned_updates.empty()) return plan.outputs;
  const bool is_current = plan.kept_of == network_.value_changes();
  network_.values_changed();
  // What the run updated is not what reordered weights are made of.
  if (is_current && !plan.keeps_updated) plan.kept_of = network_.value_changes();
  return plan.outputs;
}

bool PlanExecutor::run_backward(Plan& plan) {
  if (end_wanted_) return false;
  auto& parameters = network_.parameters();
  return plan.run_backward(state_, parameters, {observers_, end_wanted_}) == plan.backward.size();
}

void PlanExecutor::go_back(Plan& plan, std::uint32_t run) {
  const WithinRun within(within_run_);
  struct RunNumber {
    std::uint32_t& number;
    const std::uint32_t last;
    ~RunNumber() { number = last; }
  };
  const RunNumber restored{state_.run, std::exchange(state_.run, run)};
  collect_observers();
  const Observed observed(state_, observers_);
  for (auto* observer : observers_) observer->before_run(Pass::backward);
  ended_early_ = !run_backward(plan);
  for (auto* observer : observers_) observer->after_run(Pass::backward);
  synchronise();
}

void PlanExecutor::begin(Plan& plan, const ValueMap& inputs) {
  auto fed = inputs.begin();
  current_ = &plan;
  for (auto& input : plan.inputs) {
    *input.value = (fed++)->second;
    set_apart(plan, *input.value);
  }
  ++state_.run;
  state_.nested_runs = 0;
  const auto host = plan.arenas.find(Device{});
  state_.planned = host == plan.arenas.end() ? 0 : host->second.bytes();
  collect_observers();
}

void PlanExecutor::collect_observers() {
  end_wanted_ = ended_early_ = false;
  events_.collect(observers_);
  if (Trace::on()) [[unlikely]]
    observers_.push_back(&trace_);
}

const Tensor& gradient_of(const Plan* plan, std::string_view name) {
  if (plan) {
    const auto place = plan->named_gradients.find(name);
    if (place != plan->named_gradients.end()) return *place->second.tensor;
  }
  throw NotFound(
      fmt::format("there is no gradient of '{}': name it in the option gradients, and run "
                  "backpropagation",
                  printable(name)));
}

}  // namespace d5
