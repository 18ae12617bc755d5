// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sample_step.hpp"

namespace d5 {

/// A data set seen through a chain of steps, which work on one of its fields; the others stay.
///
///     TransformedDataset images(folder, {{"decode"}, {"random_resized_crop", {{"size", 224}}},
///                                        {"flip"}, {"normalise"}});
///
/// A random step draws from `draw.stream("steps.<place>.<name>", sample)`.
class TransformedDataset final : public Dataset {
 public:
  /// Throws: NotFound for a step or a field that there is none of; what steps throw at settings or
  /// descriptions that do not fit them, with their place.
  TransformedDataset(std::shared_ptr<const Dataset> base, std::vector<EntryChoice> steps,
                     const std::string& field = "image");
  ~TransformedDataset() override;

  [[nodiscard]] std::string name() const override { return base_->name(); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return base_->artefacts(); }
  [[nodiscard]] std::int64_t size() const override { return base_->size(); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    return base_->sample_name(index);
  }
  [[nodiscard]] Shape sample_shape(std::size_t field, std::int64_t index) const override;
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  struct Link {
    std::shared_ptr<const SampleStep> step;
    std::string stream;  ///< of its random numbers
    std::string who;     ///< in messages
  };
  struct Bench;  // what one thread works with
  class Loan;

  void add_steps(std::vector<EntryChoice> steps);
  void read_sample(std::int64_t index, const Draw& draw, Bench& bench, std::size_t row,
                   std::span<Tensor> batch) const;
  [[nodiscard]] SampleView run_steps(std::int64_t index, const Draw& draw, Bench& bench,
                                     const SampleView& last) const;

  std::shared_ptr<const Dataset> base_;
  std::vector<Field> fields_;
  std::size_t field_ = 0;  ///< the one that is worked on
  std::vector<Link> links_;
  std::string names_;  ///< of the steps
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Bench>> idle_;
};

/// Steps that any data set may be told of, besides its own options: `steps` of its training part,
/// `test_steps` of its test part (both lists of steps), `steps_of`: their field.
struct StepOptions {
  std::vector<EntryChoice> steps, test_steps;
  std::string steps_of = "image";

  void declare(OptionList& options);
};

/// `pair` seen through the steps.
[[nodiscard]] DatasetPair with_steps(DatasetPair pair, const StepOptions& options);

}  // namespace d5
