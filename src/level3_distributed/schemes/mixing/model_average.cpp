// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/model_average.hpp"

namespace d5::detail {

ModelAverage::ModelAverage(std::shared_ptr<Communicator> ranks, const ModelAverageOptions& options,
                           const ThreeStepOptimizer& rule)
    : ranks_(std::move(ranks)),
      options_(options),
      all_reduce_(all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings)) {
  if (options_.state != ModelAverageOptions::State::reset) return;
  for (const auto& [key, value] : rule.rule_state()) at_first_[key] = value.tensor().copy();
}

bool ModelAverage::is_due() { return ++*steps_.data<std::int64_t>() % options_.every == 0; }

void ModelAverage::mean_of(Tensor& tensor) {
  all_reduce_->start(*ranks_, tensor)->wait();
  ranks_->scale_local(tensor, 1.0 / ranks_->size());
}

void ModelAverage::average(Tensor& values, ThreeStepOptimizer& rule) {
  mean_of(values);
  if (options_.state == ModelAverageOptions::State::keep) return;
  if (options_.state == ModelAverageOptions::State::reset) return rule.restore_rule(at_first_);
  ValueMap state = rule.rule_state();
  for (auto& [key, value] : state) {
    const DType dtype = value.tensor().dtype();
    if (dtype != DType::float32 && dtype != DType::float64) continue;
    value = value.tensor().copy();
    mean_of(value.tensor());
  }
  rule.restore_rule(state);
}

}  // namespace d5::detail
