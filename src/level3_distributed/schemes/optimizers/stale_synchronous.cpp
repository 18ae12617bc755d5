// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/schemes/parameter_server/parameter_change.hpp"
#include "level3_distributed/schemes/parameter_server/served_optimizer.hpp"

namespace d5 {
namespace {

using detail::ServerMessage;
using detail::ServerRanks;
using detail::ServerWord;

struct StaleSynchronousOptions {
  std::int64_t staleness = 2, servers = 1;

  void declare(OptionList& options) {
    options.add("staleness", staleness, "maximum steps that a worker may be ahead of the slowest",
                {.least = 0});
    options.add("servers", servers, "number of ranks that serve, each with whole tensors",
                {.least = 1});
  }
};

/// Stale synchronous parallel (SSP): a worker's clock counts its steps. It makes each step with its
/// own optimizer and sends the change of the parameters, weighted by its share of the samples (with
/// staleness 0: of those that the loss counts); servers add the changes. At clock c a worker
/// continues once the slowest worker is at c - staleness or later, and then reads the parameters:
/// they have all changes of clocks up to c - staleness - 1, all of its own, and some later ones.
///
/// With staleness 0 and a rule that is linear in gradients (sgd, momentum) it equals
/// `consistent_centralized`, within rounding; with other rules the result is the mean of the
/// workers' steps. Modifiers see a worker's own gradients. Test runs use the servers' parameters,
/// not a rule's average.
///
/// Source: Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
/// Server" (NIPS 2013), section 3.
class StaleSynchronous final : public detail::ServedOptimizer {
 public:
  using Options = StaleSynchronousOptions;
  StaleSynchronous(std::shared_ptr<ThreeStepOptimizer> optimizer,
                   const std::shared_ptr<Communicator>& ranks, const Options& options)
      : ServedOptimizer(std::move(optimizer), ranks, of(options, ranks->size()), Rule::at_workers),
        staleness_(options.staleness),
        clocks_(std::size_t(roles().workers()), 0),
        waits_(clocks_.size(), false) {
    for (const detail::ParameterShard& shard : shards()) changes_.emplace_back(shard.values);
  }

  static RankRole role(const Options& options, int rank, int ranks) {
    return of(options, ranks).role(rank);
  }
  bool is_consistent() const override { return false; }

  const ValueMap& step(const Batch& batch) override {
    for (detail::ParameterChange& change : changes_) change.begin();
    const ValueMap& outputs = local().step(batch);
    executor().synchronise();
    const double share = share_of(batch);
    for (int shard = 0; shard < roles().shards(); ++shard) {
      const int server = roles().server_of(shard);
      line().say(server, ServerWord::update);
      line().send(changes_[std::size_t(shard)].end(communicator(), share), server);
    }
    receive_all_values();
    return outputs;
  }

 private:
  /// The weight of this worker's change. Workers with staleness 0 wait for each other and agree on
  /// it; otherwise a worker uses its share of samples.
  double share_of(const Batch& batch) {
    LossWeight& weight = loss_weight();
    if (staleness_ == 0 || weight.kind() != LossWeight::Kind::counted) {
      return weight.share(agreement(), batch);
    }
    return batch.global_size == 0 ? 1.0 / roles().workers()
                                  : double(batch.size) / double(batch.global_size);
  }

  static ServerRanks of(const Options& options, int ranks) {
    return {"stale_synchronous", ranks, options.servers, ServerRanks::Kind::serves};
  }

  void heard(const ServerMessage& message) override {
    if (message.word != ServerWord::update) {
      throw CommunicationError("a worker sent a request that this scheme does not have");
    }
    Tensor here = own_shard().values.on_host();
    Tensor change = Tensor::empty(here.dtype(), here.shape());
    line().receive(change, message.from);
    communicator().reduce_local(here, change);
    if (!(own_shard().values.device() == Device{})) own_shard().values.copy_from(here);
    ++clocks_[std::size_t(message.from)];
    waits_[std::size_t(message.from)] = true;
    let_go();
  }

  /// Answers the workers that the slowest has caught up with.
  void let_go() {
    const std::int64_t slowest = *std::ranges::min_element(clocks_);
    for (std::size_t worker = 0; worker < clocks_.size(); ++worker) {
      if (!waits_[worker] || slowest < clocks_[worker] - staleness_) continue;
      waits_[worker] = false;
      note_staleness(clocks_[worker] - slowest);
      answer_values(int(worker), Values::trained);
    }
  }

  /// A worker that has left no longer holds others back.
  void has_left(int worker) override {
    clocks_[std::size_t(worker)] = std::numeric_limits<std::int64_t>::max();
    let_go();
  }

  std::int64_t staleness_;
  std::vector<detail::ParameterChange> changes_;
  // On a server.
  std::vector<std::int64_t> clocks_;  // steps received from each worker
  std::vector<bool> waits_;
};

}  // namespace

namespace distributed_optimizer {

void register_stale_synchronous(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("stale_synchronous", DistributedOptimizerEntry::of<StaleSynchronous>(
                                        "stale synchronous parallel parameter server with bounded "
                                        "staleness (SSP, Ho et al., 2013)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
