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

/// What counts in a loss, and how much of it is in a part of a batch: a piece, a rank's share, a
/// batch of a test run. Means over parts become the mean over all as sums do: weights and weighed
/// sums are added, and divided last.
///
/// The network's nodes say what a loss is, from its end on:
///
/// | ends in | counts |
/// | --- | --- |
/// | a cross-entropy's mean | targets that are not `ignore_index`, each by its class's weight |
/// | ReduceMean | elements |
/// | a sum divided by a number that is made of the batch | what that number says |
/// | a cross-entropy's sum, ReduceSum | a sum: parts are added |
///
/// Scalar factors and terms of parameters alone stand anywhere behind. Where each sample has as
/// many elements it is samples that count. What ends otherwise is taken for a mean over samples
/// (`assumption`).
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
  /// Found in the graph alone, so the same on every rank; of `samples` and `sum` nobody has to look
  /// into a batch.
  [[nodiscard]] Kind kind();
  /// How much of what counts is in these fields of so many samples; of a sum, the samples.
  /// Throws: NotFound for a field that is not there; Unsupported for a loss whose parts no weight
  /// makes one of.
  [[nodiscard]] double of(const ValueMap& fields, std::int64_t samples);
  [[nodiscard]] double of(const Batch& batch) { return of(batch.values, batch.size); }
  /// Whether anything counts: not in a rank's share without samples, or with ignored targets alone.
  [[nodiscard]] bool counts(const Batch& batch);
  /// How much a part's loss, and its gradient, counts in that of the whole. Throws: as `of`.
  [[nodiscard]] double share(double part, double whole);

  // Over ranks; collectives where neither samples count alike nor parts are added.
  /// The same of this rank's part of a batch. Throws: as `of`; NumericError where nothing counts on
  /// any rank.
  [[nodiscard]] double share(RankAgreement& ranks, const Batch& batch);
  /// The loss of the batch from those of its parts, which is a collective always.
  [[nodiscard]] double join(RankAgreement& ranks, double mine, const Batch& batch);

  /// The class that the loss leaves out of `field`, the targets.
  [[nodiscard]] std::optional<std::int64_t> ignored(std::string_view field);
  /// "the targets that are not -100, by the weights of their classes"; empty where samples count.
  [[nodiscard]] std::string counted();
  /// Why samples are taken for what counts though the graph does not say so; empty: it does.
  [[nodiscard]] std::string assumption();

 private:
  struct State;
  State& state();
  std::unique_ptr<State> state_;
};

}  // namespace d5
