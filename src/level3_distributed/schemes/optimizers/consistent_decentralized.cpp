// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"
#include "level3_distributed/exchange/exchanged_gradients.hpp"

namespace d5 {
namespace {

struct ConsistentDecentralizedOptions {
  std::int64_t bucket_bytes = std::int64_t{4} << 20, first_bucket_bytes = 0, last_bucket_bytes = 0;
  EntryChoice all_reduce{"auto"};
  EntryChoice exchange{"dense"};

  void declare(OptionList& options) {
    options.add("bucket_bytes", bucket_bytes, "minimum bytes of a bucket",
                {.least = 1, .unit = "byte"});
    options.add("first_bucket_bytes", first_bucket_bytes,
                "minimum bytes of the first bucket, which begins the exchange; 0: as bucket_bytes",
                {.least = 0, .unit = "byte"});
    options.add(
        "last_bucket_bytes", last_bucket_bytes,
        "approximate bytes of the last bucket, which no computation hides; 0: as bucket_bytes",
        {.least = 0, .unit = "byte"});
    options.add("all_reduce", all_reduce, "algorithm that sums the gradients",
                all_reduces().kind());
    options.add("exchange", exchange, "gradient exchange", gradient_exchanges().kind());
  }
};

/// Synchronous data parallelism: all ranks start from rank 0's parameters, average their gradients
/// over all samples of the global batch, and apply the same update. Their parameters are the same
/// to the bit after every step, and those of one rank with the whole batch, within rounding.
///
/// Running statistics of batch normalization are not averaged: each rank keeps those of its own
/// samples.
class ConsistentDecentralized final : public DistributedOptimizer {
 public:
  using Options = ConsistentDecentralizedOptions;
  ConsistentDecentralized(std::shared_ptr<ThreeStepOptimizer> optimizer,
                          std::shared_ptr<Communicator> ranks, const Options& options)
      : DistributedOptimizer(std::move(optimizer), std::move(ranks)),
        all_reduce_(all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings)),
        exchange_(gradient_exchanges()
                      .at(options.exchange.name)
                      .make(shared_communicator(), all_reduce_, options.exchange.settings)) {
    all_reduce_->prepare(communicator());
    exchange_->attach(local());
    for (Parameter& parameter : executor().network().parameters()) {
      communicator().broadcast(parameter.value, 0);
    }
    const BucketSizes sizes{.least = std::size_t(options.bucket_bytes),
                            .first = std::size_t(options.first_bucket_bytes),
                            .last = std::size_t(options.last_bucket_bytes)};
    const auto own = std::make_shared<std::vector<ParameterRange>>();  // by bucket
    local().add_gradient_layer(ThreeStepOptimizer::GradientLayer::exchanged,
                               [=, ranks = shared_communicator(),
                                exchange = exchange_](std::shared_ptr<GradientSource> inner) {
                                 auto source = std::make_shared<detail::ExchangedGradients>(
                                     std::move(inner), ranks, exchange, sizes);
                                 *own = source->own();
                                 return source;
                               });
    share_updates(*own);
  }

  static bool resumes_on_other_ranks(const Options& options) {
    return options.exchange.name == "dense";
  }

  Conditions conditions() const override {
    const std::string chosen = all_reduce_->chosen();
    if (chosen.empty()) return {};
    return {{"all_reduce.chosen", aside(chosen)}};
  }

  ValueMap state() const override {
    ValueMap state = DistributedOptimizer::state();
    detail::add_part(state, kExchange, exchange_->state());
    return state;
  }

  void restore(const ValueMap& state) override {
    ValueMap others = state;
    std::erase_if(others, [](const auto& entry) { return entry.first.starts_with(kExchange); });
    DistributedOptimizer::restore(others);
    exchange_->restore(detail::part_of(state, kExchange));
  }

 private:
  /// Distributes updates if a rank updates only its own parameters.
  void share_updates(const std::vector<ParameterRange>& own) {
    std::size_t parameters = 0;
    for (const ParameterRange& range : own) parameters += range.end - range.begin;
    if (!local().agreement().any(parameters < executor().network().parameters().size())) return;
    local().update_own(
        own,
        {.start = [exchange = exchange_](std::size_t bucket) { exchange->start_values(bucket); },
         .finish = [exchange = exchange_] { exchange->finish_values(); }});
  }

  static inline const std::string kExchange = "exchange/";
  std::shared_ptr<AllReduce> all_reduce_;
  std::shared_ptr<GradientExchange> exchange_;
};

}  // namespace

namespace distributed_optimizer {

void register_consistent_decentralized(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("consistent_decentralized", DistributedOptimizerEntry::of<ConsistentDecentralized>(
                                               "synchronous SGD by all-reduce, overlapped with "
                                               "backpropagation (Deep500's dsgd, horovod)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
