// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"

namespace d5::testing {

/// One sample behind some steps.
inline Tensor after(const Tensor& sample, const std::vector<EntryChoice>& steps) {
  std::vector<std::int64_t> dims{1};
  dims.insert(dims.end(), sample.shape().begin(), sample.shape().end());
  const auto base = std::make_shared<TensorDataset>(
      "one", std::vector<std::pair<std::string, Tensor>>{{"x", sample.reshaped(Shape(dims))}});
  const TransformedDataset data(base, steps, "x");
  std::vector<Tensor> batch = empty_batch(data, 1);
  const std::int64_t index = 0;
  data.read({&index, 1}, {}, batch);
  return batch[0].reshaped(Shape(batch[0].shape().dims().subspan(1)));
}

}  // namespace d5::testing
