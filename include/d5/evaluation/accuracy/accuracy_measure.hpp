// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"

namespace d5 {

/// Judges the answers of a whole data set, sample by sample. An object judges one run.
///
///     auto measure = accuracy_measures().at("top1").make();
///     for (...) answer.score = measure->judge(values, right);
///     Measurement record = measure->record();
class AccuracyMeasure {
 public:
  virtual ~AccuracyMeasure() = default;
  /// Returns the score of one answer: 1 is right, 0 is wrong. `right` are the data set's fields
  /// that are not inputs of the network: "label". Throws: NotFound, TypeError, ShapeError for
  /// values that it cannot judge.
  virtual double judge(const ValueMap& answer, const ValueMap& right) = 0;
  /// Names of what it compares: {"classes", "label"}. Of a model without a claim, the first measure
  /// whose values the answer and the data set have is taken. Empty: only a claim takes it.
  struct Compared {
    std::string answer = {}, right = {};
  };
  [[nodiscard]] virtual Compared compares() const { return {}; }
  /// Counts an unanswered sample as wrong.
  virtual void miss(const ValueMap& right) = 0;
  /// The result over all samples so far: metric, unit, samples and statistic of a record.
  [[nodiscard]] virtual Measurement record() const = 0;
};

using AccuracyMeasureEntry = Entry<std::shared_ptr<AccuracyMeasure>()>;
/// All accuracy measures by name; src/evaluation/accuracy/measures has the built-in ones.
[[nodiscard]] Registry<AccuracyMeasureEntry>& accuracy_measures();

/// An answer as text: JSON of its tensors, without those of more than `most_elements`.
[[nodiscard]] std::string answer_text(const ValueMap& answer, std::int64_t most_elements = 1000);

}  // namespace d5
