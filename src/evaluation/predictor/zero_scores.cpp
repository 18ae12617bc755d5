// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/zero_scores.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void ZeroScoresOptions::declare(OptionList& options) {
  options.add("output", output, "name of the output with the scores");
  options.add("classes", classes, "number of scores per sample", {.least = 1, .most = 10'000'000});
}

std::int64_t batch_of(const ValueMap& inputs) {
  std::int64_t batch = -1;
  for (const auto& [name, value] : inputs) {
    const Shape& shape = value.tensor().shape();
    const std::int64_t here = shape.rank() == 0 ? -1 : shape[0];
    if (here < 0 || (batch >= 0 && here != batch)) {
      throw ShapeError(fmt::format("predictor: input '{}' is {}, expected {} samples",
                                   printable(name), to_string(value.desc()),
                                   batch < 0 ? "some" : fmt::to_string(batch)));
    }
    batch = here;
  }
  if (batch < 0) throw ShapeError("predictor: there are no inputs");
  return batch;
}

const ValueMap& ZeroScores::of(const ValueMap& inputs) {
  const Shape wanted{batch_of(inputs), options_.classes};
  Value& scores = outputs_[options_.output];
  if (!scores.is_tensor() || scores.tensor().shape() != wanted) {
    scores = Tensor::zeros(DType::float32, wanted);
  }
  return outputs_;
}

}  // namespace d5::detail
