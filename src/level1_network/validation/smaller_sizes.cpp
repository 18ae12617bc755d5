// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/smaller_sizes.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "level1_network/graph/network_parts.hpp"

namespace d5 {
namespace {

/// Whether the elements are whole bytes.
bool can_be_cut(const Tensor& tensor) {
  return tensor.dtype() != DType::string && tensor.elements() > 0 &&
         tensor.bytes() % std::size_t(tensor.elements()) == 0;
}

/// The first `count` along `axis`.
Tensor first_of(const Tensor& tensor, std::size_t axis, std::int64_t count) {
  const Shape& before = tensor.shape();
  Shape shape = before;
  shape[axis] = count;
  Tensor result = Tensor::empty(tensor.dtype(), shape);
  const std::size_t element = tensor.bytes() / std::size_t(tensor.elements());
  const std::size_t row = element * std::size_t(before.elements(axis + 1, before.rank()));
  const auto* from = static_cast<const std::byte*>(tensor.raw());
  auto* to = static_cast<std::byte*>(result.raw());
  for (std::int64_t i = 0; i < before.elements(0, axis); ++i) {
    std::memcpy(to, from, row * std::size_t(count));
    from += row * std::size_t(before[axis]);
    to += row * std::size_t(count);
  }
  return result;
}

Tensor cut(Tensor tensor, std::int64_t from, std::int64_t to) {
  if (!can_be_cut(tensor)) return tensor;
  for (std::size_t axis = 0; axis < tensor.shape().rank(); ++axis) {
    if (tensor.shape()[axis] == from) tensor = first_of(tensor, axis, to);
  }
  return tensor;
}

/// Replaces sizes in constants, such as Reshape's.
Tensor renumbered(const Tensor& tensor, std::int64_t from, std::int64_t to) {
  if (tensor.dtype() != DType::int64 || tensor.shape().rank() > 1) return tensor;
  Tensor result = tensor.copy({});
  std::ranges::replace(result.span<std::int64_t>(), from, to);
  return result;
}

/// Declares the current shapes of inputs; all other shapes follow from them.
void declare(ShrunkNetwork& shrunk) {
  for (auto& input : shrunk.model.graph.inputs) {
    const auto fed = shrunk.inputs.find(input.name);
    if (fed != shrunk.inputs.end() && fed->second.is_tensor()) {
      input.type = type_of(fed->second.tensor());
    }
  }
  shrunk.model.graph.values.clear();
  for (auto& output : shrunk.model.graph.outputs) std::ranges::fill(output.type.dims, onnx::Dim());
}

}  // namespace

std::vector<std::int64_t> sizes_in(const Network& network, const ValueMap& inputs) {
  std::set<std::int64_t, std::greater<>> sizes;
  const auto add = [&](const Tensor& tensor) {
    sizes.insert(tensor.shape().begin(), tensor.shape().end());
  };
  for (const auto& [name, value] : inputs) {
    if (value.is_tensor()) add(value.tensor());
  }
  for (const auto& [name, value] : network.graph().initializers) add(value);
  sizes.erase(1);
  sizes.erase(0);
  return {sizes.begin(), sizes.end()};
}

ShrunkNetwork with_size(const Network& network, const ValueMap& inputs, std::int64_t from,
                        std::int64_t to) {
  ShrunkNetwork result{network.model(), inputs};
  for (auto& [name, value] : result.model.graph.initializers) {
    value = renumbered(cut(value.on_host(), from, to), from, to);
  }
  for (auto& [name, value] : result.inputs) {
    if (value.is_tensor()) value = Value(cut(value.tensor(), from, to));
  }
  declare(result);
  return result;
}

std::vector<OneSize> dimensions_in(const Network& network, const ValueMap& inputs) {
  std::vector<OneSize> all;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    if (!can_be_cut(tensor)) return;
    for (std::size_t axis = 0; axis < tensor.shape().rank(); ++axis) {
      if (tensor.shape()[axis] > 1) all.push_back({name, axis, tensor.shape()[axis]});
    }
  };
  for (const auto& [name, value] : inputs) {
    if (value.is_tensor()) add(name, value.tensor());
  }
  for (const auto& [name, value] : network.graph().initializers) add(name, value);
  return all;
}

ShrunkNetwork with_dimension(const Network& network, const ValueMap& inputs, const OneSize& one,
                             std::int64_t to) {
  ShrunkNetwork result{network.model(), inputs};
  if (const auto fed = result.inputs.find(one.tensor); fed != result.inputs.end()) {
    fed->second = Value(first_of(fed->second.tensor(), one.axis, to));
  } else {
    Tensor& constant = result.model.graph.initializers.at(one.tensor);
    constant = first_of(constant.on_host(), one.axis, to);
  }
  declare(result);
  return result;
}

}  // namespace d5
