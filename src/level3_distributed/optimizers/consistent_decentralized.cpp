// SPDX-License-Identifier: Apache-2.0
#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "level3_distributed/gradient_exchange.hpp"

namespace d5 {
namespace {

struct ConsistentDecentralizedOptions {
  std::int64_t bucket_bytes = std::int64_t{4} << 20;
  EntryChoice all_reduce{"mpi"};

  void declare(OptionList& options) {
    options.add("bucket_bytes", bucket_bytes, "least size of a message", {.least = 1});
    options.add("all_reduce", all_reduce, "algorithm that sums the gradients",
                all_reduces().kind());
  }
};

/// Synchronous data parallelism: all ranks start from rank 0's parameters, average their gradients
/// over all samples of the global batch, and apply the same update. Their parameters are the same
/// to the bit after every step, and those of one rank with the whole batch, within rounding.
///
/// Running statistics (of batch normalization) are not averaged: each rank keeps those of its
/// samples.
class ConsistentDecentralized final : public DistributedOptimizer {
 public:
  using Options = ConsistentDecentralizedOptions;
  ConsistentDecentralized(std::shared_ptr<ThreeStepOptimizer> optimizer,
                          std::shared_ptr<Communicator> ranks, const Options& options)
      : DistributedOptimizer(std::move(optimizer), std::move(ranks)),
        exchange_(std::make_shared<detail::GradientExchange>(
            communicator(),
            all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings),
            static_cast<std::size_t>(options.bucket_bytes))) {
    for (Parameter& parameter : executor().network().parameters()) {
      communicator().broadcast(parameter.value, 0);
    }
    executor().events().add(exchange_);
  }
  ~ConsistentDecentralized() override { executor().events().remove(exchange_.get()); }

  const ValueMap& step(const Batch& batch) override {
    local().new_input();
    Network& network = executor().network();
    auto& parameters = network.parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) local().prepare(p);

    exchange_->begin(network, weight(batch));
    const ValueMap& outputs = executor().inference_and_backprop(local().feed(batch), loss());
    if (executor().ended_early()) {
      throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
    }
    exchange_->start_rest();
    // The first buckets are updated while the last are still on their way.
    for (std::size_t b = 0; b < exchange_->buckets(); ++b) {
      const auto& bucket = exchange_->finish(b);
      Span span("training", "update");
      span.argument("bucket", b);
      for (std::size_t p = bucket.begin; p < bucket.end; ++p) {
        local().update(p);
      }
    }
    return outputs;
  }

 private:
  /// This rank's share of the samples: its gradient is an average over them alone.
  double weight(const Batch& batch) {
    if (batch.global_size == 0) return 1.0 / communicator().size();
    return static_cast<double>(batch.size) / static_cast<double>(batch.global_size);
  }

  std::shared_ptr<detail::GradientExchange> exchange_;
};

}  // namespace

namespace distributed_optimizer {

void register_consistent_decentralized(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("consistent_decentralized",
               DistributedOptimizerEntry::of<ConsistentDecentralized>(
                   "synchronous all-reduce of gradients, overlapped with backpropagation"));
}

}  // namespace distributed_optimizer
}  // namespace d5
