// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"

namespace d5 {

/// Weight of a part of a batch in a loss; a part is a micro-batch, a rank's share, or a batch of a
/// test run. To get the mean over all from means over parts, add weights and weighted means, and
/// divide last.
///
/// The last nodes of the network's loss decide what counts:
///
/// | loss ends in | weight of a part |
/// | --- | --- |
/// | cross-entropy with reduction "mean" | targets that are not `ignore_index`, by class weight |
/// | ReduceMean | elements |
/// | a sum divided by a number computed from the batch | that number |
/// | cross-entropy with reduction "sum", ReduceSum | a sum: parts are added |
///
/// Scalar factors, and terms that depend on parameters only, may follow anywhere. If all samples
/// have the same number of elements, samples are counted. Any other loss is taken for a mean over
/// samples (`assumption`).
///
///     LossWeight weight(network, "loss");
///     sum += weight.of(batch) * loss;  all += weight.of(batch);
///
/// Thread safety: none.
class LossWeight {
 public:
  /// `loss` names a scalar tensor of the network, which is shared.
  LossWeight(Network network, std::string loss);
  ~LossWeight();
  LossWeight(LossWeight&&) noexcept;
  LossWeight& operator=(LossWeight&&) noexcept;

  enum class Kind { samples, counted, sum };
  /// Derived from the graph alone, so the same on every rank. For `samples` and `sum` batches need
  /// not be read.
  [[nodiscard]] Kind kind();
  /// Weight of a part with these fields and number of samples; for a sum, the number of samples.
  /// Throws: NotFound for a missing field; Unsupported for a loss whose parts cannot be combined by
  /// weights.
  [[nodiscard]] double of(const ValueMap& fields, std::int64_t samples);
  [[nodiscard]] double of(const Batch& batch) { return of(batch.values, batch.size); }
  /// Whether anything counts; false for an empty share, and if all targets are ignored.
  [[nodiscard]] bool counts(const Batch& batch);
  /// Factor of a part's loss and gradient in those of the whole. Throws: as `of`.
  [[nodiscard]] double share(double part, double whole);

  // Over ranks; collectives, unless samples count equally or parts are added.
  /// Factor of this rank's part of a batch. Throws: as `of`; NumericError if nothing counts on any
  /// rank.
  [[nodiscard]] double share(RankAgreement& ranks, const Batch& batch);
  /// Loss of the batch from the losses of its parts; always a collective.
  [[nodiscard]] double join(RankAgreement& ranks, double mine, const Batch& batch);

  /// Class that the loss ignores in `field`, the targets.
  [[nodiscard]] std::optional<std::int64_t> ignored(std::string_view field);
  /// "the targets that are not -100, by the weights of their classes"; empty if samples count.
  [[nodiscard]] std::string counted();
  /// Reason why samples are assumed to count; empty if the graph determines what counts.
  [[nodiscard]] std::string assumption();

 private:
  struct State;
  State& state();
  std::unique_ptr<State> state_;
};

}  // namespace d5
