// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/parameter_average.hpp"

#include "level2_training/optimization/shared/averaging.hpp"

namespace d5::detail {

void ParameterAverage::attach(ThreeStepOptimizer& optimizer) {
  average_.emplace("average", optimizer.executor().network());
}

void ParameterAverage::take(ThreeStepOptimizer& optimizer, double share) {
  optimizer.executor().synchronise();
  const double part = values_ == 0 ? 1 : share;
  const auto& parameters = optimizer.executor().network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    move_towards((*average_)[i], parameters[i].value, part);
  }
  ++values_;
}

void ParameterAverage::begin_test(ThreeStepOptimizer& optimizer) {
  if (values_ == 0) return;
  Network& network = optimizer.executor().network();
  trained_.keep(network);
  auto& parameters = network.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) put((*average_)[i], parameters[i].value);
}

void ParameterAverage::end_test(ThreeStepOptimizer& optimizer) {
  optimizer.executor().synchronise();
  trained_.give_back(optimizer.executor().network());
}

ValueMap ParameterAverage::state() const {
  ValueMap state{{"values", Tensor::scalar(values_)}};
  average_->save(state);
  return state;
}

void ParameterAverage::restore(const ValueMap& state) {
  values_ = state_entry(state, "values", name()).item<std::int64_t>();
  average_->restore(state);
}

}  // namespace d5::detail
