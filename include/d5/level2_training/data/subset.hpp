// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// Some samples of another data set, in an order of its own. A sample's random steps below it stay
/// those that it has in the whole.
class SubsetDataset final : public Dataset {
 public:
  /// `samples` are places in `base`; one may come twice. Throws: ValueError out of its range.
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

/// Two parts that share no sample: the second has `share` of them, rounded, drawn by `seed`. Both
/// keep the order. Throws: ValueError for a share outside (0, 1), or a part without samples.
[[nodiscard]] DatasetPair split(std::shared_ptr<const Dataset> dataset, double share,
                                std::uint64_t seed);

/// The first `count` samples, or all where there are no more.
[[nodiscard]] std::shared_ptr<const Dataset> first_samples(std::shared_ptr<const Dataset> dataset,
                                                           std::int64_t count);
/// `count` samples drawn by `seed`, each once, in their order; all where there are no more.
[[nodiscard]] std::shared_ptr<const Dataset> drawn_samples(std::shared_ptr<const Dataset> dataset,
                                                           std::int64_t count, std::uint64_t seed);

/// What every data set may be told; one with options of its own derives its struct from this, and
/// its `declare` ends with this one's.
struct DatasetOptions {
  std::int64_t train_samples = 0, test_samples = 0;
  enum class Choice { first, drawn } choice = Choice::first;
  double validation = 0;
  std::uint64_t split_seed = 0;

  void declare(OptionList& options);
  /// The parts that `options` ask for, of the whole ones.
  [[nodiscard]] DatasetPair parts_of(DatasetPair whole) const;
};

}  // namespace d5
