// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/loss_weight.hpp"

namespace d5 {

/// How gradients are computed.
struct GradientRun {
  enum class Write { overwrite, add };
  double factor = 1;               ///< on the loss, before it is differentiated
  Write write = Write::overwrite;  ///< add: to what the gradients are
  /// Where a rank updates its own parameters alone: whether the other gradients are read, too.
  bool all = false;
};

/// Parameters [begin, end) of a network.
struct ParameterRange {
  std::size_t begin = 0, end = 0;
};

/// Where an optimizer has its gradients from: forward, backward, until they are final. It may ask
/// as often in a step as it likes; several ranks ask equally often.
///
///     const ValueMap& outputs = source.run(batch);
///     for (std::size_t p = 0; p < source.parts(); ++p) update(source.finish(p));
class GradientSource {
 public:
  virtual ~GradientSource() = default;
  /// Runs forward and backward on `batch`. A part of the gradients is final after its `finish`.
  /// Returns the network's outputs, of this rank's samples; valid until the next run. An observer
  /// may have ended it early (`GraphExecutor::ended_early`): then there are no gradients.
  /// Throws: what the executor throws; Unsupported where it has no factor on the loss.
  virtual const ValueMap& run(const Batch& batch, const GradientRun& how = {}) = 0;
  /// In how many parts the gradients of a run become final, in their order.
  [[nodiscard]] virtual std::size_t parts() const { return 1; }
  /// Waits for a part; once each, in order, after `run`.
  virtual ParameterRange finish(std::size_t part) = 0;
  void finish_all();
  /// Whether `finish` leaves each rank a part of the gradients that no other has; together they are
  /// all. The same on every rank: a collective, after the last `finish` of a run.
  [[nodiscard]] virtual bool in_shares() { return false; }
  /// Whether `GradientRun::factor` may be another number than 1.
  [[nodiscard]] virtual bool takes_factor() { return false; }
  /// Whether `ExecutionEvent::gradient_ready` of a run means that this source's gradient is final
  /// on this rank. Not where it is a sum of several runs.
  [[nodiscard]] virtual bool announces() const { return true; }

  // A line search compares losses along gradients: both are over the same samples.
  /// The loss of `batch`, forward alone, over the samples that the gradients are of.
  virtual double loss_of(const Batch& batch) = 0;
  /// Likewise of what a run on `batch` gave.
  [[nodiscard]] virtual double loss_of_run(const ValueMap& outputs, const Batch& batch) = 0;

  [[nodiscard]] virtual GraphExecutor& executor() = 0;
  [[nodiscard]] virtual const std::string& loss() const = 0;
  /// What of a batch the loss counts: weighs gradients and losses of its parts.
  [[nodiscard]] virtual LossWeight& loss_weight() = 0;
  /// Whether anything in the last run's batch counted. Where nothing did gradients are zero, and a
  /// step by them updates nothing.
  [[nodiscard]] virtual bool counted() { return true; }
};

/// That of one executor: its network's own gradients. A batch in which nothing counts is run
/// forward alone; a rank's share without samples is not run, and has a loss that is not a number.
class LocalGradients final : public GradientSource {
 public:
  /// `loss` names the network's scalar output. Throws: NotFound.
  LocalGradients(std::shared_ptr<GraphExecutor> executor, std::string loss);

  const ValueMap& run(const Batch& batch, const GradientRun& how = {}) override;
  ParameterRange finish(std::size_t part) override;
  [[nodiscard]] bool takes_factor() override;
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;
  [[nodiscard]] GraphExecutor& executor() override { return *executor_; }
  [[nodiscard]] const std::string& loss() const override { return loss_; }
  [[nodiscard]] LossWeight& loss_weight() override { return *loss_weight_; }
  /// Of an executor whose network tells less than the whole loss. Throws: ValueError for null.
  void set_loss_weight(std::shared_ptr<LossWeight> weight);
  [[nodiscard]] bool counted() override { return counted_; }

 private:
  const ValueMap& run_without_gradients(const Batch& batch, GradientRun::Write write);
  void keep_gradients();
  void add_kept();

  std::shared_ptr<GraphExecutor> executor_;
  std::string loss_;
  std::shared_ptr<LossWeight> loss_weight_;
  bool counted_ = true;
  ValueMap no_outputs_;  // of a share without samples
  BatchFeed feed_;
  std::vector<Tensor> kept_;
  std::optional<bool> takes_factor_;  // the executor's nature, when it was asked for
};

/// A source that asks another one, once or several times.
class GradientDecorator : public GradientSource {
 public:
  explicit GradientDecorator(std::shared_ptr<GradientSource> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] std::size_t parts() const override { return inner_->parts(); }
  ParameterRange finish(std::size_t part) override { return inner_->finish(part); }
  [[nodiscard]] bool in_shares() override { return inner_->in_shares(); }
  [[nodiscard]] bool takes_factor() override { return inner_->takes_factor(); }
  [[nodiscard]] bool announces() const override { return inner_->announces(); }
  double loss_of(const Batch& batch) override { return inner_->loss_of(batch); }
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override {
    return inner_->loss_of_run(outputs, batch);
  }
  [[nodiscard]] GraphExecutor& executor() override { return inner_->executor(); }
  [[nodiscard]] const std::string& loss() const override { return inner_->loss(); }
  [[nodiscard]] LossWeight& loss_weight() override { return inner_->loss_weight(); }
  [[nodiscard]] bool counted() override { return inner_->counted(); }

 protected:
  [[nodiscard]] GradientSource& inner() { return *inner_; }

 private:
  std::shared_ptr<GradientSource> inner_;
};

}  // namespace d5
