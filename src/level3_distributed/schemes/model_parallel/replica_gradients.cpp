// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/model_parallel/replica_gradients.hpp"

#include "d5/core/error.hpp"

namespace d5::detail {

ReplicaGradients::ReplicaGradients(std::shared_ptr<GradientSource> inner,
                                   std::shared_ptr<Communicator> replicas,
                                   std::shared_ptr<AllReduce> all_reduce,
                                   std::vector<ParameterRange> own)
    : GradientDecorator(std::move(inner)),
      replicas_(std::move(replicas)),
      agreement_(replicas_),
      all_reduce_(std::move(all_reduce)),
      own_(std::move(own)) {}

const ValueMap& ReplicaGradients::run(const Batch& batch, const GradientRun& how) {
  if (how.write == GradientRun::Write::add) {
    throw Unsupported(
        "gradients that replicas have summed cannot be added to: add before "
        "(GradientLayer::accumulated)");
  }
  GradientRun mine = how;
  mine.factor *= batch.global_size == 0 ? 1.0 / replicas_->size()
                                        : double(batch.size) / double(batch.global_size);
  const ValueMap& outputs = inner().run(batch, mine);
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
  }
  return outputs;
}

ParameterRange ReplicaGradients::finish(std::size_t part) {
  if (part == 0) {
    inner().finish_all();
    if (replicas_->size() > 1) sum_over_replicas();
  }
  return own_.at(part);
}

/// One message of those that lie together.
void ReplicaGradients::sum_over_replicas() {
  auto& parameters = executor().network().parameters();
  std::vector<Tensor*> mine;
  for (const ParameterRange& range : own_) {
    for (std::size_t i = range.begin; i < range.end; ++i) mine.push_back(&parameters[i].gradient);
  }
  for (std::size_t begin = 0, end = 0; begin < mine.size(); begin = end) {
    const DType dtype = mine[begin]->dtype();
    std::int64_t elements = 0;
    for (; end < mine.size() && mine[end]->dtype() == dtype; ++end)
      elements += mine[end]->elements();
    Tensor all = Tensor::empty(dtype, {elements});
    const auto each = [&](const auto& copy) {
      std::int64_t first = 0;
      for (std::size_t i = begin; i < end; ++i) {
        Tensor place = all.slice(first, first + mine[i]->elements());
        copy(place, *mine[i]);
        first += mine[i]->elements();
      }
    };
    each(
        [](Tensor& place, Tensor& gradient) { place.copy_from(gradient.reshaped(place.shape())); });
    all_reduce_->start(*replicas_, all)->wait();
    each([](Tensor& place, Tensor& gradient) {
      gradient.copy_from(place.reshaped(gradient.shape()));
    });
  }
}

double ReplicaGradients::loss_of(const Batch& batch) {
  return agreement_.mean(inner().loss_of(batch), batch);
}

double ReplicaGradients::loss_of_run(const ValueMap& outputs, const Batch& batch) {
  return agreement_.mean(inner().loss_of_run(outputs, batch), batch);
}

}  // namespace d5::detail
