// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/results/condition.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/rank_role.hpp"

namespace d5 {

/// How ranks train together, around the optimizer in three steps that updates this rank's
/// parameters. A scheme hooks into that one's step (`add_gradient_layer`, `update_own`), or makes a
/// step of its own of that one's parts; what it leaves alone is that one's.
///
/// Its ranks agree over the communicator (`CommunicatorAgreement`), unless it gives the optimizer
/// another agreement.
class DistributedOptimizer : public Optimizer {
 public:
  DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                       std::shared_ptr<Communicator> communicator);
  /// Of a scheme in which only `workers` train, a group of `communicator`; null at a rank that does
  /// not, which agrees with nobody.
  DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                       std::shared_ptr<Communicator> communicator,
                       std::shared_ptr<Communicator> workers);
  /// What this rank does while a session trains: its trainer runs, or it serves those of others
  /// until the last one has left. Every rank calls it once.
  ///
  ///     scheme->run(trainer);
  virtual void run(Trainer& trainer, const Interrupt& interrupt = {}) { trainer.run(interrupt); }
  /// Of a scheme whose ranks train parts of a network (`DistributedOptimizerEntry::executor`):
  /// writes what all of them have learnt into the whole one. A collective, after `run`.
  virtual void join(Network& whole) { (void)whole; }
  /// Whether all workers have the same parameters after every step. Of others test runs are made
  /// with the mean.
  [[nodiscard]] virtual bool is_consistent() const { return true; }
  /// What a record of this training says besides the options: what they left open.
  [[nodiscard]] virtual Conditions conditions() const { return {}; }
  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  /// Those that train, this rank among them. Throws: ValueError at one that does not.
  [[nodiscard]] Communicator& workers();
  [[nodiscard]] ThreeStepOptimizer& local() { return *optimizer_; }

  const ValueMap& step(const Batch& batch) override { return optimizer_->step(batch); }
  [[nodiscard]] GradientSource& gradients() final { return optimizer_->gradients(); }
  [[nodiscard]] ValueMap state() const override { return optimizer_->state(); }
  void restore(const ValueMap& state) override { optimizer_->restore(state); }
  [[nodiscard]] HyperParameters& hyper_parameters() final { return optimizer_->hyper_parameters(); }
  void begin_test() override { optimizer_->begin_test(); }
  void end_test() override { optimizer_->end_test(); }
  void tested(double loss, double weight) override { optimizer_->tested(loss, weight); }
  [[nodiscard]] RankAgreement& agreement() override { return optimizer_->agreement(); }
  void read_gradients(GradientReader reader) override {
    optimizer_->read_gradients(std::move(reader));
  }

 protected:
  [[nodiscard]] const std::shared_ptr<Communicator>& shared_communicator() const {
    return communicator_;
  }

 private:
  std::shared_ptr<ThreeStepOptimizer> optimizer_;
  std::shared_ptr<Communicator> communicator_, workers_;
};

/// What is trained, and how it runs.
struct WholeNetwork {
  Network network;
  std::string loss = "loss";
  ExecutorOptions execution = {};
};

/// A scheme by name, and what each rank is in it: before there is a network, for samplers are cut
/// by it. A scheme in which not all are workers says so:
///
///     static RankRole role(const Options& options, int rank, int ranks);
///
/// Rank 0 is a worker. One whose ranks train parts of the network cuts it (a collective), and makes
/// what runs this rank's; it keeps no value of the others:
///
///     static std::shared_ptr<GraphExecutor> part_executor(
///         const Options& options, const WholeNetwork& whole,
///         const std::shared_ptr<Communicator>& ranks);
///
/// One that finds out what a resumed training needs again takes it from the state that it saved:
///
///     static Settings resumed(const Settings& settings, const ValueMap& state);
///
/// A scheme whose ranks remember nothing of their own says with which options:
///
///     static bool resumes_on_other_ranks(const Options& options);
class DistributedOptimizerEntry
    : public Entry<std::shared_ptr<DistributedOptimizer>(std::shared_ptr<ThreeStepOptimizer>,
                                                         std::shared_ptr<Communicator>)> {
 public:
  DistributedOptimizerEntry(Entry entry) : Entry(std::move(entry)) {}  // NOLINT: it is one

  template <class Scheme>
  [[nodiscard]] static DistributedOptimizerEntry of(std::string summary) {
    DistributedOptimizerEntry entry(Entry::of<Scheme>(std::move(summary)));
    if constexpr (requires { &Scheme::role; }) {
      entry.role_ = [](const Settings& settings, int rank, int ranks) {
        return Scheme::role(read_options<typename Scheme::Options>(settings), rank, ranks);
      };
    }
    if constexpr (requires { &Scheme::part_executor; }) {
      entry.executor_ = [](const Settings& settings, const WholeNetwork& whole,
                           const std::shared_ptr<Communicator>& ranks) {
        return Scheme::part_executor(read_options<typename Scheme::Options>(settings), whole,
                                     ranks);
      };
    }
    if constexpr (requires { &Scheme::resumed; }) {
      entry.resumed_ = Scheme::resumed;
    }
    if constexpr (requires { &Scheme::resumes_on_other_ranks; }) {
      entry.resumes_on_other_ranks_ = [](const Settings& settings) {
        return Scheme::resumes_on_other_ranks(read_options<typename Scheme::Options>(settings));
      };
    }
    return entry;
  }

  /// Throws: ValueError where so many ranks cannot be cut so, and as `make` for settings.
  [[nodiscard]] RankRole role(int rank, int ranks, const Settings& settings = {}) const {
    if (role_) return role_(settings, rank, ranks);
    return {RankRole::Kind::worker, rank, ranks};
  }

  /// What this rank's optimizer is made for: of most schemes an executor of the whole network.
  /// Throws: as `make` and `make_executor`, and what cutting throws.
  [[nodiscard]] std::shared_ptr<GraphExecutor> executor(const WholeNetwork& whole,
                                                        const std::shared_ptr<Communicator>& ranks,
                                                        const Settings& settings = {}) const {
    if (executor_) return executor_(settings, whole, ranks);
    return make_executor(whole.network, whole.execution);
  }

  /// The settings with which training goes on from the `state` that a checkpoint has of a scheme.
  [[nodiscard]] Settings resumed(const Settings& settings, const ValueMap& state) const {
    return resumed_ ? resumed_(settings, state) : settings;
  }

  /// Whether what n ranks saved another number of them can go on with. Throws: as `make`.
  [[nodiscard]] bool resumes_on_other_ranks(const Settings& settings = {}) const {
    return resumes_on_other_ranks_ && resumes_on_other_ranks_(settings);
  }

 private:
  std::function<RankRole(const Settings&, int rank, int ranks)> role_;
  std::function<std::shared_ptr<GraphExecutor>(const Settings&, const WholeNetwork&,
                                               const std::shared_ptr<Communicator>&)>
      executor_;
  std::function<Settings(const Settings&, const ValueMap&)> resumed_;
  std::function<bool(const Settings&)> resumes_on_other_ranks_;
};

/// All schemes by name. A scheme that sums gradients has an option "all_reduce", the algorithm.
[[nodiscard]] Registry<DistributedOptimizerEntry>& distributed_optimizers();
/// A framework's own distribution: a part of `Framework`.
class NativeSchemes : public Registry<DistributedOptimizerEntry> {
 public:
  NativeSchemes() : Registry("native scheme") {}
};
/// One of `distributed_optimizers()`, or a framework's own: "torch/ddp". Throws: NotFound,
/// Unsupported.
[[nodiscard]] const DistributedOptimizerEntry& find_scheme(std::string_view name);

}  // namespace d5
