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

/// A sample step of level 2 that runs by itself, on its own tensors instead of a chain's memory.
/// Its random draws are those of `TransformedDataset`, so that results are equal.
///
/// Thread safety: any number of threads.
class StepStage {
 public:
  StepStage(std::shared_ptr<const SampleStep> step, std::string name, std::string stream)
      : step_(std::move(step)), name_(std::move(name)), stream_(std::move(stream)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Shapes: without the batch dimension, like `SampleStep::run`.
  [[nodiscard]] Tensor run(Tensor in, std::int64_t sample, const Draw& draw) const;

 private:
  class Loan;
  std::shared_ptr<const SampleStep> step_;
  std::string name_, stream_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<StepRun::Memory>> idle_;
};

/// The stages of one field of a data set; steps that gain from it are fused.
/// Throws: NotFound, ValueError, and what steps throw.
[[nodiscard]] std::vector<std::shared_ptr<const StepStage>> step_stages(
    const std::vector<EntryChoice>& steps);

}  // namespace d5::detail
