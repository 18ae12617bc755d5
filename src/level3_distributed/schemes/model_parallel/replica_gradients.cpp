// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/model_parallel/replica_gradients.hpp"

#include <utility>

#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "level3_distributed/exchange/exchanged_gradients.hpp"

namespace d5::detail {
namespace {

/// The gradients of this rank's part; the other ranks of its model have the rest.
class PartGradients final : public GradientDecorator {
 public:
  using GradientDecorator::GradientDecorator;
  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    return inner().run(batch, how);
  }
  [[nodiscard]] bool in_shares() override { return true; }
};

}  // namespace

void add_replica_gradients(ThreeStepOptimizer& optimizer, std::shared_ptr<Communicator> replicas,
                           const EntryChoice& all_reduce, std::int64_t bucket_bytes) {
  std::shared_ptr<GradientExchange> exchange;
  if (replicas->size() > 1) {
    std::shared_ptr<AllReduce> sum = all_reduces().at(all_reduce.name).make(all_reduce.settings);
    sum->prepare(*replicas);
    exchange = gradient_exchanges().at("dense").make(replicas, std::move(sum), {});
  }
  optimizer.add_gradient_layer(
      ThreeStepOptimizer::GradientLayer::exchanged, [=](std::shared_ptr<GradientSource> source) {
        if (exchange) {
          source = std::make_shared<ExchangedGradients>(
              std::move(source), replicas, exchange,
              BucketSizes{.least = static_cast<std::size_t>(bucket_bytes)});
        }
        return std::make_shared<PartGradients>(std::move(source));
      });
}

}  // namespace d5::detail
