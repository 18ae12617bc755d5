// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sample_step.hpp"

namespace d5::detail {

/// A step of level 2 that works by itself, on tensors of its own: what a chain does in place of
/// memory that it hands on. Draws as `TransformedDataset` does, so that results are the same.
///
/// Thread safety: all of it.
class StepStage {
 public:
  StepStage(std::shared_ptr<const SampleStep> step, std::string name, std::string stream)
      : step_(std::move(step)), name_(std::move(name)), stream_(std::move(stream)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Shapes: without the dimension of the batch, as `SampleStep::run`.
  [[nodiscard]] Tensor run(Tensor in, std::int64_t sample, const Draw& draw) const;

 private:
  class Loan;
  std::shared_ptr<const SampleStep> step_;
  std::string name_, stream_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<StepRun::Memory>> idle_;
};

/// The steps of one field of a data set, those joined that gain by it.
/// Throws: NotFound, ValueError, and what steps throw at `desc`.
[[nodiscard]] std::vector<std::shared_ptr<const StepStage>> step_stages(
    const std::vector<EntryChoice>& steps);

}  // namespace d5::detail
