// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "d5/level3_distributed/exchange/gradient_exchange.hpp"

namespace d5 {
namespace {

/// All-reduces every gradient.
class DenseExchange final : public GradientExchange {
 public:
  DenseExchange(std::shared_ptr<Communicator> ranks, std::shared_ptr<AllReduce> all_reduce)
      : GradientExchange(std::move(ranks)), all_reduce_(std::move(all_reduce)) {}

  std::unique_ptr<Request> start(const GradientBucket& bucket, const ExchangeStep& step) override {
    Tensor data = bucket.data;
    if (step.weight != 1) ranks().scale_local(data, step.weight);
    return all_reduce_->start(ranks(), data);
  }

 private:
  std::shared_ptr<AllReduce> all_reduce_;
};

}  // namespace

namespace exchange {
void register_dense(Registry<GradientExchangeEntry>& registry) {
  registry.add("dense",
               GradientExchangeEntry::of<DenseExchange>("dense all-reduce of all gradients"));
}
}  // namespace exchange

}  // namespace d5
