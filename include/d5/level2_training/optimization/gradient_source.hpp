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

/// Options of one gradient computation.
struct GradientRun {
  enum class Write { overwrite, add };
  double factor = 1;               ///< loss scale, applied before differentiation
  Write write = Write::overwrite;  ///< add: accumulates into the gradients
  /// Whether gradients of parameters that other ranks update are read, too.
  bool all = false;
};

/// Parameters [begin, end) of a network.
struct ParameterRange {
  std::size_t begin = 0, end = 0;
};

/// Computes the gradients of an optimizer: forward, backward, and waiting until they are final. An
/// optimizer may run it any number of times per step; all ranks must run it equally often.
///
///     const ValueMap& outputs = source.run(batch);
///     for (std::size_t p = 0; p < source.parts(); ++p) update(source.finish(p));
class GradientSource {
 public:
  virtual ~GradientSource() = default;
  /// Runs forward and backward on `batch`. A part of the gradients is final after its `finish`.
  /// Returns the network's outputs for this rank's samples, valid until the next run. If an
  /// observer ended the run early (`GraphExecutor::ended_early`), there are no gradients.
  /// Throws: what the executor throws; Unsupported if it cannot scale the loss.
  virtual const ValueMap& run(const Batch& batch, const GradientRun& how = {}) = 0;
  /// Number of parts in which the gradients of a run become final, in order.
  [[nodiscard]] virtual std::size_t parts() const { return 1; }
  /// Waits for a part; called once for each, in order, after `run`.
  virtual ParameterRange finish(std::size_t part) = 0;
  void finish_all();
  /// Whether `finish` leaves each rank with a disjoint share of the gradients, which together are
  /// all. Same result on every rank. A collective; call it after the last `finish` of a run.
  [[nodiscard]] virtual bool in_shares() { return false; }
  /// Whether `GradientRun::factor` may differ from 1.
  [[nodiscard]] virtual bool takes_factor() { return false; }
  /// Whether `ExecutionEvent::gradient_ready` means that this source's gradient is final on this
  /// rank. False for a sum of several runs.
  [[nodiscard]] virtual bool announces() const { return true; }

  // A line search compares losses along gradients, so both must be over the same samples.
  /// Loss of `batch`, forward only, over the same samples as the gradients.
  virtual double loss_of(const Batch& batch) = 0;
  /// The same for the outputs of a run on `batch`.
  [[nodiscard]] virtual double loss_of_run(const ValueMap& outputs, const Batch& batch) = 0;

  [[nodiscard]] virtual GraphExecutor& executor() = 0;
  [[nodiscard]] virtual const std::string& loss() const = 0;
  /// Weights for the gradients and losses of parts of a batch.
  [[nodiscard]] virtual LossWeight& loss_weight() = 0;
  /// Whether anything in the last run's batch counted for the loss. If not, gradients are zero and
  /// the step updates nothing.
  [[nodiscard]] virtual bool counted() { return true; }
};

/// Gradients of one executor's network. A batch in which nothing counts runs forward only; an empty
/// share of a rank is not run, and its loss is NaN.
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
  /// Replaces the weight, for a network that is only a part of the loss. Throws: ValueError for
  /// null.
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
  ValueMap no_outputs_;  // outputs of an empty share
  BatchFeed feed_;
  std::vector<Tensor> kept_;
  std::optional<bool> takes_factor_;  // property of the executor, once queried
};

/// A source that runs another one, once or several times.
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
