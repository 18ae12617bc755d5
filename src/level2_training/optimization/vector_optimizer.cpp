// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/vector_optimizer.hpp"

#include "d5/core/errors/error.hpp"

namespace d5::detail {

VectorOptimizer::VectorOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                                 std::string name)
    : ThreeStepOptimizer(std::move(executor), std::move(loss)),
      who_("optimizer " + std::move(name)) {}

const ValueMap& VectorOptimizer::step(const Batch& batch) {
  struct Scope {
    bool& here;
    ~Scope() { here = false; }
  };
  in_step_ = true;
  const Scope scope{in_step_};
  begin_step(batch);
  const ValueMap& outputs = run_gradients(batch);
  if (executor().ended_early() || !gradients().counted()) return outputs;
  outputs_.keep(outputs);
  batch_ = &batch;
  update_all();
  return outputs_.all();
}

void VectorOptimizer::new_input() {
  if (in_step_) return;
  throw Unsupported(who_ + " runs a step's batch as often as it needs; call its step");
}

void VectorOptimizer::update_rule(const Tensor&, Parameter&, std::size_t) {
  throw Unsupported(who_ + " updates all parameters together; call its step");
}

void VectorOptimizer::forget_others() {
  throw Unsupported(who_ +
                    " treats all parameters as one vector, which ranks cannot share; choose an "
                    "exchange that leaves all to each rank, such as dense");
}

const ValueMap& VectorOptimizer::run_again() {
  const ValueMap& outputs = gradients().run(*batch_);
  if (executor().ended_early()) {
    throw Unsupported(who_ + ": an observer ended one of a step's runs early; remove it");
  }
  gradients().finish_all();
  executor().synchronise();
  return outputs;
}

const Tensor& VectorOptimizer::entry(const ValueMap& state, const std::string& key) const {
  return state_entry(state, key, who_);
}

std::vector<double> VectorOptimizer::vector(const ValueMap& state, const std::string& key) const {
  const auto values = entry(state, key).span<double>();
  return {values.begin(), values.end()};
}

}  // namespace d5::detail
