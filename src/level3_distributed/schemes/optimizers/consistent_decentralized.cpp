// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "level3_distributed/exchange/exchanged_gradients.hpp"

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
      : DistributedOptimizer(std::move(optimizer), std::move(ranks)) {
    for (Parameter& parameter : executor().network().parameters()) {
      communicator().broadcast(parameter.value, 0);
    }
    local().add_gradient_layer(
        ThreeStepOptimizer::GradientLayer::exchanged,
        [ranks = shared_communicator(), options](std::shared_ptr<GradientSource> inner) {
          return std::make_shared<detail::ExchangedGradients>(
              std::move(inner), ranks,
              all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings),
              static_cast<std::size_t>(options.bucket_bytes));
        });
  }

  const ValueMap& step(const Batch& batch) override { return local().step(batch); }
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
