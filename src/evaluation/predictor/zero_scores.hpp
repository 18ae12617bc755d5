// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::detail {

struct ZeroScoresOptions {
  std::string output = "logits";
  std::int64_t classes = 1000;
  void declare(OptionList& options);
};

/// Scores of zero for each sample: the answers of predictors that compute nothing.
class ZeroScores {
 public:
  explicit ZeroScores(ZeroScoresOptions options) : options_(std::move(options)) {}
  /// Throws: ShapeError for inputs without a batch dimension, or with different batch sizes.
  const ValueMap& of(const ValueMap& inputs);

 private:
  ZeroScoresOptions options_;
  ValueMap outputs_;
};

/// Dimension 0 of all inputs. Throws: ShapeError if they differ, or if there are no inputs.
[[nodiscard]] std::int64_t batch_of(const ValueMap& inputs);

}  // namespace d5::detail
