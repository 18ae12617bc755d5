// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "level3_distributed/exchange/shards.hpp"

namespace d5 {
namespace {

/// A reduce-scatter into this rank's shard, then an all-gather if all gradients are read. The
/// all-gather begins in `wait`, because ranks wait for buckets in the same order; started on
/// completion of the first call, its order would differ between ranks.
class ShardRequest final : public Request {
 public:
  ShardRequest(Communicator& ranks, Tensor data, const detail::BucketShards& shards, bool all)
      : ranks_(ranks), data_(std::move(data)), shards_(shards), all_(all) {
    mine_ = shards.mine;
    sum_ = ranks.start_reduce_scatter(data_, mine_, Reduction::sum, shards.counts);
  }
  void wait() override {
    if (!sum_) return;
    sum_->wait();
    sum_.reset();
    Tensor own = shards_.own_gradients;
    ranks_.copy_local(own, mine_);
    if (all_) ranks_.all_gather(mine_, data_, shards_.counts);
  }
  bool done() override {
    if (!sum_) return true;
    if (sum_->done() && !all_) wait();
    return !sum_;
  }

 private:
  Communicator& ranks_;
  Tensor data_, mine_;
  const detail::BucketShards& shards_;
  bool all_;
  std::unique_ptr<Request> sum_;
};

/// ZeRO stage 1: a rank gets the gradient sums of its shard of each bucket (reduce-scatter),
/// updates only those parameters, keeps only their optimizer state, and distributes their values
/// (all-gather). It moves as many bytes as a ring all-reduce; the optimizer state of each rank is
/// 1/n.
///
/// A shard consists of whole tensors, so any update rule can use it. Shards have nearly equal bytes
/// if each tensor is small compared with 1/n of the total.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter
/// Models" (SC'20), section 5.1.
class ShardedExchange final : public GradientExchange {
 public:
  ShardedExchange(std::shared_ptr<Communicator> ranks, const std::shared_ptr<AllReduce>&)
      : GradientExchange(std::move(ranks)) {}

  void lay_out(Network& network, const std::vector<GradientBucket>& buckets) override {
    shards_ = detail::cut_into_shards(network.parameters(), buckets, ranks());
  }

  std::unique_ptr<Request> start(const GradientBucket& bucket, const ExchangeStep& step) override {
    const detail::BucketShards& of = shards_[bucket.index];
    Tensor data = bucket.data;
    if (step.weight != 1) ranks().scale_local(data, step.weight);
    return std::make_unique<ShardRequest>(ranks(), data, of, step.all);
  }

  ParameterRange own(const GradientBucket& bucket) const override {
    return shards_[bucket.index].own;
  }

  void start_values(std::size_t bucket) override {
    detail::BucketShards& of = shards_[bucket];
    ranks().copy_local(of.mine, of.own_values);
    values_.push_back(ranks().start_all_gather(of.mine, of.values, of.counts));
    // Nothing else progresses the requests while this thread updates.
    for (auto& request : values_) (void)request->done();
  }
  void finish_values() override {
    for (auto& request : values_) request->wait();
    values_.clear();
  }

 private:
  std::vector<detail::BucketShards> shards_;      // by bucket
  std::vector<std::unique_ptr<Request>> values_;  // in flight
};

}  // namespace

namespace exchange {
void register_sharded(Registry<GradientExchangeEntry>& registry) {
  registry.add("sharded",
               GradientExchangeEntry::of<ShardedExchange>(
                   "optimizer state sharded over ranks (ZeRO stage 1, Rajbhandari et al., 2020)"));
}
}  // namespace exchange

}  // namespace d5
