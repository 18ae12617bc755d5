// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/node/memory_window.hpp"
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"
#include "level3_distributed/schemes/mixing/topology_choice.hpp"

namespace d5 {
namespace {

struct AsynchronousNeighborsOptions : detail::TopologyChoice {
  AsynchronousNeighborsOptions() { topology.name = "complete"; }
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    TopologyChoice::declare(options);
    options.add("seed", seed, "seed of the random pairs");
  }
};

/// AD-PSGD: after each gradient a rank draws a neighbour, both take the mean of their parameters,
/// and the rank adds its update. No rank waits for another one's step: parameters are in a
/// `MemoryWindow`, each part under a lock; across nodes it is the transport's, with one-sided
/// calls. A gradient may belong to parameters that others have changed since.
///
/// Results depend on timing: neither repeated nor resumed runs give the same bits.
///
/// Source: Lian et al., "Asynchronous Decentralized Parallel Stochastic Gradient Descent" (2018),
/// algorithm 1. Its graph is bipartite to avoid deadlocks; here locks are ordered instead.
class AsynchronousNeighbors final : public detail::OwnParameters {
 public:
  using Options = AsynchronousNeighborsOptions;
  AsynchronousNeighbors(std::shared_ptr<ThreeStepOptimizer> optimizer,
                        std::shared_ptr<Communicator> ranks, const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "asynchronous_neighbors"),
        weights_(options.matrix(ranks->size())),
        neighbors_(weights_.neighbors(ranks->rank())),
        seed_(options.seed),
        window_(make_memory_window(ranks, zeros().bytes())),
        x_(zeros()),
        theirs_(zeros()),
        move_(zeros()) {
    write();
    communicator().barrier();  // no neighbour averages with uninitialised memory
  }

  const ValueMap& step(const Batch& batch) override {
    take();
    x_.copy_from(values());
    return step_then(
        batch,
        [this] {
          detail::subtract(values(), x_, move_);
          average();
        },
        [this] { window_->flush(rank_); });  // lets the library answer other ranks
  }

  void run(Trainer& trainer, const Interrupt& interrupt) override {
    DistributedOptimizer::run(trainer, interrupt);
    communicator().barrier();
    take();
    keep_mean();
  }
  void begin_test() override {
    communicator().barrier();  // no neighbour averages any more
    take();
    OwnParameters::begin_test();
  }

  [[nodiscard]] ValueMap state() const override {
    const auto lock = window_->lock(rank_, WindowLockKind::shared);
    Tensor x = x_;  // holds nothing else between steps
    window_->get(x, rank_, 0);
    return OwnParameters::state();
  }
  void restore(const ValueMap& state) override {
    OwnParameters::restore(state);
    const auto lock = window_->lock(rank_, WindowLockKind::exclusive);
    window_->put(x_, rank_, 0);
  }

  Conditions conditions() const override { return detail::mixing_conditions(weights_); }

 private:
  void write() {
    const auto lock = window_->lock(rank_, WindowLockKind::exclusive);
    window_->put(values(), rank_, 0);
  }

  /// Copies this rank's part of the window into the network.
  void take() {
    const auto lock = window_->lock(rank_, WindowLockKind::shared);
    Tensor x = values();
    window_->get(x, rank_, 0);
  }

  void average() {
    const auto step = std::uint32_t((*steps_.data<std::int64_t>())++);
    Tensor mine = values();
    if (neighbors_.empty()) {
      write();
      return;
    }
    RandomStream random(seed_, step, std::uint32_t(rank_));
    const int other = neighbors_[random.below(neighbors_.size())];
    const auto first = window_->lock(std::min(rank_, other), WindowLockKind::exclusive);
    const auto second = window_->lock(std::max(rank_, other), WindowLockKind::exclusive);
    window_->get(mine, rank_, 0);
    window_->get(theirs_, other, 0);
    detail::add_times(mine, 1, theirs_);
    communicator().scale_local(mine, 0.5);
    window_->put(mine, other, 0);
    detail::add_times(mine, 1, move_);
    window_->put(mine, rank_, 0);
  }

  Memory memory() const override { return {{"steps", steps_}, {"x", x_}}; }

  MixingMatrix weights_;
  std::vector<int> neighbors_;
  std::uint64_t seed_;
  std::shared_ptr<MemoryWindow> window_;
  int rank_ = communicator().rank();
  Tensor steps_ = Tensor::scalar(std::int64_t{0});
  Tensor x_, theirs_, move_;
};

}  // namespace

namespace distributed_optimizer {

void register_asynchronous_neighbors(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("asynchronous_neighbors", DistributedOptimizerEntry::of<AsynchronousNeighbors>(
                                             "asynchronous decentralized SGD: random neighbours "
                                             "average (AD-PSGD, Lian et al., 2018)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
