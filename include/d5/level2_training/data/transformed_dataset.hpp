// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sample_step.hpp"

namespace d5 {

/// Applies a chain of steps to one field of a data set; other fields stay.
///
///     TransformedDataset images(folder, {{"decode"}, {"random_resized_crop", {{"size", 224}}},
///                                        {"flip"}, {"normalise"}});
///
/// A random step draws from `draw.stream("steps.<place>.<name>", sample)`.
class TransformedDataset final : public Dataset {
 public:
  /// Throws: NotFound for an unknown step or field; what steps throw for settings or types that do
  /// not fit, with the step's position.
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
    std::string stream;  ///< name of its random stream
    std::string who;     ///< its name in messages
  };
  struct Bench;  // buffers of one thread
  class Loan;

  void add_steps(std::vector<EntryChoice> steps);
  void read_sample(std::int64_t index, const Draw& draw, Bench& bench, std::size_t row,
                   std::span<Tensor> batch) const;
  [[nodiscard]] SampleView run_steps(std::int64_t index, const Draw& draw, Bench& bench,
                                     const SampleView& last) const;

  std::shared_ptr<const Dataset> base_;
  std::vector<Field> fields_;
  std::size_t field_ = 0;  ///< the processed field
  std::vector<Link> links_;
  std::string names_;  ///< names of the steps
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Bench>> idle_;
};

/// Sample steps as options of any data set: `steps` for its training part, `test_steps` for its
/// test part (both lists of steps), and `steps_of`, the field that they process.
struct StepOptions {
  std::vector<EntryChoice> steps, test_steps;
  std::string steps_of = "image";

  void declare(OptionList& options);
};

/// Applies the steps to `pair`.
[[nodiscard]] DatasetPair with_steps(DatasetPair pair, const StepOptions& options);

}  // namespace d5
