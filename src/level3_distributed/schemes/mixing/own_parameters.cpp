// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/own_parameters.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"
#include "level2_training/optimization/vector_optimizer.hpp"

namespace d5::detail {
namespace {

constexpr const char* kPrefix = "scheme/";

}  // namespace

/// Progresses requests whenever a gradient is final: nothing else does while a rank computes.
class OwnParameters::Meanwhile final : public ExecutionEvent {
 public:
  std::function<void()> what;
  void gradient_ready(Parameter&, std::size_t, Stream&) override {
    if (what) what();
  }
};

OwnParameters::OwnParameters(std::shared_ptr<ThreeStepOptimizer> optimizer,
                             std::shared_ptr<Communicator> ranks, std::string name)
    : DistributedOptimizer(std::move(optimizer), ranks),
      name_(std::move(name)),
      agreement_(ranks),
      mean_(executor().network(), *ranks),
      meanwhile_(std::make_shared<Meanwhile>()) {
  check_types();
  check_rule();
  local().set_agreement(std::make_shared<RankAgreement>());
  Tensor all = values();
  communicator().broadcast(all, 0);
  executor().events().add(meanwhile_);
}

OwnParameters::~OwnParameters() { executor().events().remove(meanwhile_.get()); }

void OwnParameters::check_types() {
  for (const Parameter& parameter : executor().network().parameters()) {
    const DType dtype = parameter.value.dtype();
    if (dtype != DType::float32 && dtype != DType::float64) {
      throw TypeError(fmt::format(
          "scheme {}: parameter '{}' is {}; ranks mix what they train, and mixing rounded values "
          "beside their masters would lose small steps; keep parameters in float32 (transform "
          "half_precision with masters)",
          name_, printable(parameter.name), name_of(dtype)));
    }
    if (!(parameter.value.device() == Device{})) {
      throw Unsupported(
          fmt::format("scheme {}: parameter '{}' lies on {}, and ranks mix in the host's memory; "
                      "train on the host, or by consistent_decentralized",
                      name_, printable(parameter.name), to_string(parameter.value.device())));
    }
  }
  (void)values();  // throws for several types
}

void OwnParameters::check_rule() {
  if (dynamic_cast<VectorOptimizer*>(&local())) {
    throw Unsupported(fmt::format(
        "scheme {}: a quasi-Newton rule assumes that only its own steps change the parameters, but "
        "here other ranks change them; choose a first-order rule, such as sgd, momentum or adam",
        name_));
  }
  // z of averaging rules (schedule-free, AcceleGrad) is a point in parameter space, not a gradient.
  for (const auto& [key, value] : local().rule_state()) {
    if (!key.starts_with("z/")) continue;
    throw Unsupported(fmt::format(
        "scheme {}: the rule keeps its own copy of parameters ('{}'), which ignores the changes by "
        "other ranks; choose a first-order rule, such as sgd, momentum or adam",
        name_, printable(key)));
  }
  for (const auto& modifier : local().modifiers()) {
    if (modifier->name() != "lookahead") continue;
    throw Unsupported(fmt::format(
        "scheme {}: lookahead resets parameters to this rank's own earlier values, ignoring the "
        "changes by other ranks; leave it out (slow_momentum is its distributed counterpart)",
        name_));
  }
}

void OwnParameters::expect_plain_descent() {
  for (const auto& [key, value] : local().rule_state()) {
    if (key == "step") continue;
    throw Unsupported(
        fmt::format("scheme {}: the rule has the state '{}', but the scheme is defined for plain "
                    "gradient descent; "
                    "choose optimizer sgd",
                    name_, printable(key)));
  }
}

double OwnParameters::learning_rate() {
  if (!local().hyper_parameters().has("learning_rate")) {
    throw Unsupported(fmt::format(
        "scheme {}: the optimizer has no learning_rate, which the scheme's formula needs; choose "
        "one that has, such as sgd",
        name_));
  }
  return local().hyper_parameters().at("learning_rate");
}

Tensor OwnParameters::zeros() {
  const Tensor all = values();
  return Tensor::zeros(all.dtype(), all.shape());
}

const ValueMap& OwnParameters::step_then(const Batch& batch, const std::function<void()>& change,
                                         const std::function<void()>& meanwhile) {
  local().begin_step(batch);
  meanwhile_->what = meanwhile;
  const ValueMap& outputs = local().run_gradients(batch);
  meanwhile_->what = {};
  if (executor().ended_early()) {
    throw Unsupported(fmt::format(
        "scheme {}: an observer ended the run early, but other ranks wait for this one", name_));
  }
  const bool updates = local().gradients().counted() && local().begin_updates();
  const std::size_t count = executor().network().parameters().size();
  for (std::size_t i = 0; updates && i < count; ++i) local().update(i);
  change();
  executor().network().values_changed();
  if (updates) local().end_step();
  return outputs;
}

void OwnParameters::run(Trainer& trainer, const Interrupt& interrupt) {
  DistributedOptimizer::run(trainer, interrupt);
  mean_.keep();
}

void OwnParameters::begin_test() {
  DistributedOptimizer::begin_test();
  mean_.lend();
}

void OwnParameters::end_test() {
  mean_.take_back();
  DistributedOptimizer::end_test();
}

void OwnParameters::tested(double loss, double weight) {
  const double all = agreement_.sum(weight);
  if (all == 0) return;
  DistributedOptimizer::tested(agreement_.mean(loss, weight), all);
}

ValueMap OwnParameters::state() const {
  ValueMap state = DistributedOptimizer::state();
  ValueMap mine;
  for (const auto& [key, value] : memory()) mine[key] = value;
  add_part(state, kPrefix, mine);
  return state;
}

void OwnParameters::restore(const ValueMap& state) {
  ValueMap others = state;
  std::erase_if(others, [](const auto& entry) { return entry.first.starts_with(kPrefix); });
  DistributedOptimizer::restore(others);
  const ValueMap mine = part_of(state, kPrefix);
  for (auto& [key, value] : memory()) value.copy_from(state_entry(mine, key, "scheme " + name_));
}

}  // namespace d5::detail
