// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// A subset of another data set, in any order. A sample keeps the random numbers of steps in the
/// underlying data set.
class SubsetDataset final : public Dataset {
 public:
  /// `samples` are indices into `base`; repetition is allowed. Throws: ValueError if out of range.
  SubsetDataset(std::shared_ptr<const Dataset> base, std::vector<std::int64_t> samples);

  [[nodiscard]] std::string name() const override { return base_->name(); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return base_->artefacts(); }
  [[nodiscard]] std::int64_t size() const override { return std::int64_t(samples_.size()); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return base_->fields(); }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override;
  [[nodiscard]] Shape sample_shape(std::size_t field, std::int64_t index) const override;
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  [[nodiscard]] std::int64_t place(std::int64_t index) const;

  std::shared_ptr<const Dataset> base_;
  std::vector<std::int64_t> samples_;
};

/// Splits into two disjoint parts: the second has a share of `share`, rounded, drawn by `seed`.
/// Both keep the order. Throws: ValueError for a share outside (0, 1), or for an empty part.
[[nodiscard]] DatasetPair split(std::shared_ptr<const Dataset> dataset, double share,
                                std::uint64_t seed);

/// First `count` samples; all if there are fewer.
[[nodiscard]] std::shared_ptr<const Dataset> first_samples(std::shared_ptr<const Dataset> dataset,
                                                           std::int64_t count);
/// `count` samples drawn by `seed` without replacement, in their order; all if there are fewer.
[[nodiscard]] std::shared_ptr<const Dataset> drawn_samples(std::shared_ptr<const Dataset> dataset,
                                                           std::int64_t count, std::uint64_t seed);

/// Options of every data set. A data set with more options derives its struct from this one and
/// calls this `declare` last.
struct DatasetOptions {
  std::int64_t train_samples = 0, test_samples = 0;
  enum class Choice { first, drawn } choice = Choice::first;
  double validation = 0;
  std::uint64_t split_seed = 0;

  void declare(OptionList& options);
  /// Selects the parts that the options ask for.
  [[nodiscard]] DatasetPair parts_of(DatasetPair whole) const;
};

}  // namespace d5
