// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/gradient_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level2_training/losses/parts/scalar_loss.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {

void GradientSource::finish_all() {
  for (std::size_t part = 0; part < parts(); ++part) (void)finish(part);
}

LocalGradients::LocalGradients(std::shared_ptr<GraphExecutor> executor, std::string loss)
    : executor_(std::move(executor)),
      loss_(std::move(loss)),
      loss_weight_(std::make_shared<LossWeight>(executor_->network(), loss_)) {
  const auto outputs = executor_->network().output_names();
  if (std::ranges::find(outputs, loss_) == outputs.end()) {
    throw_unknown_name(fmt::format("network '{}': output", printable(executor_->network().name())),
                       loss_, outputs);
  }
}

void LocalGradients::set_loss_weight(std::shared_ptr<LossWeight> weight) {
  if (!weight) throw ValueError("the weight of a loss is null; give a LossWeight");
  loss_weight_ = std::move(weight);
}

const ValueMap& LocalGradients::run(const Batch& batch, const GradientRun& how) {
  counted_ = loss_weight_->counts(batch);
  if (!counted_) return run_without_gradients(batch, how.write);
  const bool adds = how.write == GradientRun::Write::add;
  if (adds) keep_gradients();
  executor_->set_loss_factor(how.factor);
  const ValueMap& outputs =
      executor_->inference_and_backprop(feed_.of(executor_->network(), batch), loss_);
  if (adds && !executor_->ended_early()) add_kept();
  return outputs;
}

/// Runs a batch without counted samples: 0 / 0 would be in all of its gradients.
const ValueMap& LocalGradients::run_without_gradients(const Batch& batch,
                                                      GradientRun::Write write) {
  if (write == GradientRun::Write::overwrite) {
    executor_->synchronise();
    for (Parameter& parameter : executor_->network().parameters()) {
      detail::change_on_host(parameter.gradient,
                             []<class T>(std::span<T> all) { std::ranges::fill(all, T(0)); });
    }
  }
  if (batch.size > 0) return executor_->inference(feed_.of(executor_->network(), batch));
  no_outputs_[loss_] = Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
  return no_outputs_;
}

ParameterRange LocalGradients::finish(std::size_t) {
  return {0, executor_->network().parameters().size()};
}

bool LocalGradients::takes_factor() {
  if (takes_factor_) return *takes_factor_;
  try {
    executor_->set_loss_factor(0.5);
    takes_factor_ = true;
  } catch (const Unsupported&) {
    takes_factor_ = false;
  }
  executor_->set_loss_factor(1);
  return *takes_factor_;
}

double LocalGradients::loss_of(const Batch& batch) {
  if (batch.size == 0 && batch.global_size > 0) return std::numeric_limits<double>::quiet_NaN();
  return detail::scalar_loss(executor_->inference(feed_.of(executor_->network(), batch)), loss_);
}

double LocalGradients::loss_of_run(const ValueMap& outputs, const Batch&) {
  return detail::scalar_loss(outputs, loss_);
}

void LocalGradients::keep_gradients() {
  executor_->synchronise();
  const auto& parameters = executor_->network().parameters();
  kept_.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& gradient = parameters[i].gradient;
    if (!kept_[i].defined() || kept_[i].shape() != gradient.shape()) {
      kept_[i] = Tensor::zeros(gradient.dtype(), gradient.shape());
    }
    kept_[i].copy_from(gradient);
  }
}

void LocalGradients::add_kept() {
  executor_->synchronise();
  auto& parameters = executor_->network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    detail::change_on_host(parameters[i].gradient, [&]<class T>(std::span<T> sum) {
      const auto kept = kept_[i].span<T>();
      for (std::size_t e = 0; e < sum.size(); ++e) sum[e] = T(sum[e] + kept[e]);
    });
  }
}

}  // namespace d5
