// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5 {

/// One step of postprocessing, from a network's outputs for one sample to an answer: softmax,
/// top-k, boxes.
///
/// Shapes: the values are the network's outputs for one sample, by name, without the batch
/// dimension; a step adds values or replaces some. Thread safety: `run` may be called by several
/// threads at once.
class AnswerStep {
 public:
  virtual ~AnswerStep() = default;
  /// Throws: NotFound, TypeError, ShapeError for values that it cannot work on.
  virtual void run(ValueMap& values) const = 0;
};

using AnswerStepEntry = Entry<std::shared_ptr<const AnswerStep>()>;
/// All answer steps by name; src/evaluation/pipeline/answer_steps has the built-in ones.
///
///     auto classes = answer_steps().at("top_k").make({{"k", 5}});
[[nodiscard]] Registry<AnswerStepEntry>& answer_steps();

/// The value that a step's option names: `name`, or if that is empty the only tensor.
/// Throws: NotFound, with the names of all values.
[[nodiscard]] const Tensor& value_for(const ValueMap& values, const std::string& name,
                                      const std::string& step);

}  // namespace d5
