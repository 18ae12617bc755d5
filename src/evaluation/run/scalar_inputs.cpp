// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/scalar_inputs.hpp"

#include <fmt/format.h>

#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

Tensor number_of_all(const std::string& name, const Tensor& batch) {
  if (batch.shape().rank() == 0) return batch;
  const auto* const bytes = static_cast<const std::byte*>(batch.raw());
  const std::size_t size = size_of(batch.dtype());
  for (std::int64_t i = 1; i < batch.elements(); ++i) {
    if (std::memcmp(bytes, bytes + std::size_t(i) * size, size) == 0) continue;
    throw ValueError(
        fmt::format("input '{}' is one number for a whole batch, but sample {} of {} has another "
                    "than the first; use batches of one sample",
                    printable(name), i, batch.elements()));
  }
  return batch.slice(0, 1).reshaped(Shape());
}

}  // namespace

std::set<std::string> scalar_inputs(const Network& network) {
  std::set<std::string> names;
  for (const auto& input : network.graph().inputs) {
    if (input.type.kind == ValueKind::tensor && input.type.has_shape && input.type.dims.empty()) {
      names.insert(input.name);
    }
  }
  return names;
}

ValueMap with_scalars(ValueMap inputs, const std::set<std::string>& scalars) {
  for (const std::string& name : scalars) {
    const auto input = inputs.find(name);
    if (input != inputs.end()) input->second = number_of_all(name, input->second.tensor());
  }
  return inputs;
}

}  // namespace d5::detail
