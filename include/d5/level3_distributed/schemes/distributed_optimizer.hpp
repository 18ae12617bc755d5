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

/// A scheme of distributed training around the three-step optimizer that updates this rank's
/// parameters. A scheme hooks into the optimizer's step (`add_gradient_layer`, `update_own`), or
/// builds its own step from the optimizer's parts. Everything else is forwarded to the optimizer.
///
/// Ranks agree over the communicator (`CommunicatorAgreement`), unless the scheme gives the
/// optimizer another agreement.
class DistributedOptimizer : public Optimizer {
 public:
  DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                       std::shared_ptr<Communicator> communicator);
  /// Constructs a scheme in which only `workers`, a group of `communicator`, train; null on a rank
  /// that does not train, which agrees with nobody.
  DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                       std::shared_ptr<Communicator> communicator,
                       std::shared_ptr<Communicator> workers);
  /// Runs this rank's part of a training: its trainer, or a server for the others until the last
  /// one has left. Every rank calls it once.
  ///
  ///     scheme->run(trainer);
  virtual void run(Trainer& trainer, const Interrupt& interrupt = {}) { trainer.run(interrupt); }
  /// Copies the trained parameters of all parts into the whole network, if ranks train parts of it
  /// (`DistributedOptimizerEntry::executor`). A collective, after `run`.
  virtual void join(Network& whole) { (void)whole; }
  /// Whether all workers have the same parameters after every step. If not, test runs use the mean
  /// of the parameters.
  [[nodiscard]] virtual bool is_consistent() const { return true; }
  /// Conditions for records beside the options: values that the scheme chose itself.
  [[nodiscard]] virtual Conditions conditions() const { return {}; }
  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  /// The ranks that train, this rank included. Throws: ValueError on a rank that does not train.
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
  [[nodiscard]] std::string needs_tests() const override { return optimizer_->needs_tests(); }
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

/// The whole network to train, and how to execute it.
struct WholeNetwork {
  Network network;
  std::string loss = "loss";
  ExecutorOptions execution = {};
};

/// A registered scheme. Its class may have these static functions:
///
///     // The role of each rank, if not all are workers; rank 0 is one. Needed before there is a
///     // network, to cut the samples.
///     static RankRole role(const Options& options, int rank, int ranks);
///
///     // The executor of this rank's part, if ranks train parts of the network. Cuts the network
///     // (a collective) and keeps no values of the other parts.
///     static std::shared_ptr<GraphExecutor> part_executor(
///         const Options& options, const WholeNetwork& whole,
///         const std::shared_ptr<Communicator>& ranks);
///
///     // The settings for a resumed training, if the scheme determines some of them at run time
///     // and saves them in its state.
///     static Settings resumed(const Settings& settings, const ValueMap& state);
///
///     // Whether a checkpoint can be resumed on another number of ranks, because ranks have no
///     // state of their own.
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

  /// The role of `rank`. Throws: ValueError if the scheme does not work on this number of ranks; as
  /// `make` for settings.
  [[nodiscard]] RankRole role(int rank, int ranks, const Settings& settings = {}) const {
    if (role_) return role_(settings, rank, ranks);
    return {RankRole::Kind::worker, rank, ranks};
  }

  /// The executor for this rank's optimizer; in most schemes it executes the whole network.
  /// Throws: as `make` and `make_executor`; exceptions of the partition.
  [[nodiscard]] std::shared_ptr<GraphExecutor> executor(const WholeNetwork& whole,
                                                        const std::shared_ptr<Communicator>& ranks,
                                                        const Settings& settings = {}) const {
    if (executor_) return executor_(settings, whole, ranks);
    return make_executor(whole.network, whole.execution);
  }

  /// The settings to resume training with, given the scheme's `state` from a checkpoint.
  [[nodiscard]] Settings resumed(const Settings& settings, const ValueMap& state) const {
    return resumed_ ? resumed_(settings, state) : settings;
  }

  /// Whether a checkpoint can be resumed on another number of ranks. Throws: as `make`.
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

/// All schemes by name. A scheme that sums gradients has an option "all_reduce" for the algorithm.
[[nodiscard]] Registry<DistributedOptimizerEntry>& distributed_optimizers();
/// A framework's own distribution: a part of `Framework`.
class NativeSchemes : public Registry<DistributedOptimizerEntry> {
 public:
  NativeSchemes() : Registry("native scheme") {}
};
/// The scheme of this name in `distributed_optimizers()`, or a framework's own: "torch/ddp".
/// Throws: NotFound, Unsupported.
[[nodiscard]] const DistributedOptimizerEntry& find_scheme(std::string_view name);

}  // namespace d5
