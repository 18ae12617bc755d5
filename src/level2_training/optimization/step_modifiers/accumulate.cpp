// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/joined_outputs.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"

namespace d5 {
namespace {

struct AccumulateOptions {
  std::int64_t pieces = 2;

  void declare(OptionList& options) {
    options.add("pieces", pieces, "number of micro-batches of each batch", {.least = 1});
  }
};

/// Samples [first, first + size) of `batch`, as views.
Batch cut(const Batch& batch, std::int64_t first, std::int64_t size) {
  Batch piece;
  piece.size = size;
  piece.epoch = batch.epoch;
  piece.index = batch.index;
  if (std::ssize(batch.samples) == batch.size) {
    piece.samples = batch.samples.subspan(std::size_t(first), std::size_t(size));
    if (!batch.draws.empty()) {
      piece.draws = batch.draws.subspan(std::size_t(first), std::size_t(size));
    }
  }
  for (const auto& [name, value] : batch.values) {
    const bool is_whole = value.is_tensor() && value.tensor().shape().rank() == 0;
    if (!is_whole && (!value.is_tensor() || value.tensor().shape()[0] != batch.size)) {
      throw ShapeError(fmt::format(
          "accumulate: field '{}' is {} in a batch of {} samples; expected the samples in "
          "dimension 0, which is split",
          printable(name), to_string(value.desc()), batch.size));
    }
    piece.values[name] = is_whole ? value : Value(value.tensor().slice(first, first + size));
  }
  return piece;
}

/// Computes the gradients of a batch as the sum of its pieces' gradients, weighted by the shares of
/// what the loss counts.
class AccumulatedGradients final : public GradientDecorator {
 public:
  AccumulatedGradients(std::shared_ptr<GradientSource> inner, std::int64_t pieces)
      : GradientDecorator(std::move(inner)), pieces_(pieces), outputs_(executor().network()) {}

  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    counted_ = false;
    if (batch.size == 0 && batch.global_size > 0) return inner().run(batch, how);
    outputs_.begin(batch.size);
    for_pieces(batch, [&](const Batch& piece, std::int64_t first, double share) {
      if (first > 0) inner().finish_all();
      const ValueMap& outputs =
          inner().run(piece, {.factor = how.factor * share,
                              .write = first == 0 ? how.write : GradientRun::Write::add});
      if (executor().ended_early()) return false;
      counted_ = counted_ || inner().counted();
      outputs_.add(outputs, piece.values, first, piece.size);
      return true;
    });
    return outputs_.all();
  }
  [[nodiscard]] bool counted() override { return counted_; }
  [[nodiscard]] bool announces() const override { return false; }
  double loss_of(const Batch& batch) override {
    if (batch.size == 0 && batch.global_size > 0) return inner().loss_of(batch);
    double loss = 0;
    bool any = false;
    for_pieces(batch, [&](const Batch& piece, std::int64_t, double share) {
      if (share == 0) return true;
      any = true;
      loss += share * inner().loss_of(piece);
      return true;
    });
    return any ? loss : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  /// Calls `body(piece, first sample, share)` until it returns false.
  template <class Body>
  void for_pieces(const Batch& batch, const Body& body) {
    if (batch.size < 1) {
      throw ValueError(fmt::format(
          "accumulate: a batch of {} samples cannot be cut into pieces; feed one that has its size",
          batch.size));
    }
    const std::int64_t pieces = std::min(pieces_, batch.size);
    pieces_of_batch_.clear();
    std::vector<double> weights;
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::int64_t size = batch.size / pieces + (i < batch.size % pieces ? 1 : 0);
      pieces_of_batch_.push_back(cut(batch, first, size));
      weights.push_back(loss_weight().of(pieces_of_batch_.back()));
      first += size;
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    first = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Batch& piece = pieces_of_batch_[i];
      if (!body(piece, first, loss_weight().share(weights[i], all))) return;
      first += piece.size;
    }
  }

  std::int64_t pieces_;
  bool counted_ = true;
  std::vector<Batch> pieces_of_batch_;
  detail::JoinedOutputs outputs_;
};

/// Runs each batch in micro-batches, so that only one needs memory. The gradient is that of the
/// whole batch for any loss (`LossWeight`). Statistics over samples within the network, such as
/// batch normalization's, are over a micro-batch.
class Accumulate : public StepModifier {
 public:
  using Options = AccumulateOptions;
  explicit Accumulate(const Options& options) : pieces_(options.pieces) {}
  [[nodiscard]] std::string name() const override { return "accumulate"; }
  void attach(ThreeStepOptimizer& optimizer) override {
    optimizer.add_gradient_layer(ThreeStepOptimizer::GradientLayer::accumulated,
                                 [pieces = pieces_](std::shared_ptr<GradientSource> inner) {
                                   return std::make_shared<AccumulatedGradients>(std::move(inner),
                                                                                 pieces);
                                 });
  }

 private:
  std::int64_t pieces_;
};

}  // namespace

namespace step_modifier {

void register_accumulate(Registry<StepModifierEntry>& registry) {
  registry.add("accumulate",
               StepModifierEntry::of<detail::KeptSettings<Accumulate>>(
                   "gradient accumulation: runs a batch in micro-batches to save memory"));
}

}  // namespace step_modifier
}  // namespace d5
