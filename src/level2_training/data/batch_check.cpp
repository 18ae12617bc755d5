// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batch_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace d5::detail {

void check_index(const Dataset& dataset, std::int64_t index) {
  if (index >= 0 && index < dataset.size()) return;
  throw ValueError(fmt::format("dataset '{}': sample {} was asked for, but it has {}",
                               printable(dataset.name()), index, dataset.size()));
}

void check_batch(const Dataset& dataset, std::span<const std::int64_t> indices,
                 std::span<const Tensor> batch) {
  for (const std::int64_t index : indices) check_index(dataset, index);
  const auto& fields = dataset.fields();
  if (batch.size() != fields.size()) {
    throw ShapeError(fmt::format("dataset '{}' has {} fields, but {} tensors were given",
                                 printable(dataset.name()), fields.size(), batch.size()));
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& [name, desc] = fields[f];
    if (!desc.shape.is_static()) {
      if (indices.size() == 1) continue;
      throw ShapeError(fmt::format(
          "dataset '{}': {} samples of field '{}' are asked for together, but their shapes differ "
          "({}); read them one by one, or through a sampler that pads",
          printable(dataset.name()), indices.size(), printable(name), to_string(desc.shape)));
    }
    const auto given = batch[f].shape().dims();
    if (batch[f].dtype() != desc.dtype) {
      throw TypeError(fmt::format("dataset '{}': field '{}' is {}, but the batch's tensor is {}",
                                  printable(dataset.name()), printable(name), name_of(desc.dtype),
                                  name_of(batch[f].dtype())));
    }
    if (given.empty() || given[0] != std::int64_t(indices.size()) ||
        !std::ranges::equal(given.subspan(1), desc.shape.dims())) {
      throw ShapeError(fmt::format(
          "dataset '{}': {} samples of field '{}' ({} each) do not fit the batch's tensor {}",
          printable(dataset.name()), indices.size(), printable(name), to_string(desc.shape),
          to_string(batch[f].shape())));
    }
  }
}

}  // namespace d5::detail
