// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/random.hpp"
#include "d5/core/registry.hpp"
#include "d5/level1_network/model_source.hpp"

namespace d5 {
namespace {

Tensor random_tensor(const std::string& name, DType dtype, const Shape& shape, std::uint64_t seed) {
  Tensor tensor = Tensor::empty(dtype, shape);
  RandomStream random(seed, stream_of(name));
  using Drawn = Join<FloatTypes, Join<IntegerTypes, Types<bool>>>;
  dispatch(Drawn{}, dtype, "random values for input '" + printable(name) + "'", [&]<class T>() {
    for (T& value : tensor.span<T>()) {
      if constexpr (std::is_same_v<T, bool>) {
        value = random.below(2) == 1;
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(random.below(10));
      } else {
        value = static_cast<T>(random.normal());
      }
    }
  });
  return tensor;
}

/// A size that nothing takes is a misprint.
void expect_taken(const Network& network, const OpenSizes& sizes) {
  bool any_open = false, any_batch = false;
  std::vector<std::string> known;
  for (const auto& info : network.graph().inputs) {
    const auto& dims = info.type.dims;
    const auto* rows = dims.empty() ? nullptr : std::get_if<std::int64_t>(&dims.front());
    any_batch = any_batch || (rows && *rows == sizes.batch);
    for (const auto& dim : dims) {
      any_open = any_open || !std::holds_alternative<std::int64_t>(dim);
      const auto* name = std::get_if<std::string>(&dim);
      if (name && std::ranges::find(known, *name) == known.end()) known.push_back(*name);
    }
  }
  for (const auto& [name, size] : sizes.by_name) {
    if (std::ranges::find(known, name) == known.end()) {
      throw_unknown_name("open dimension", name, known);
    }
  }
  if (sizes.batch != 1 && !any_open && !any_batch) {
    throw ValueError(
        fmt::format("a batch of {} cannot be set: the model leaves no dimension open; its own "
                    "sizes stand in 'd5 net show'",
                    sizes.batch));
  }
}

}  // namespace

std::map<std::string, ValueDesc> input_descs(const Network& network, const OpenSizes& sizes) {
  expect_taken(network, sizes);
  const auto names = network.input_names();
  std::map<std::string, ValueDesc> descs;
  for (const auto& info : network.graph().inputs) {
    if (std::ranges::find(names, info.name) == names.end()) continue;
    ValueDesc& desc = descs[info.name];
    if (info.type.kind != ValueKind::tensor || !info.type.has_shape) continue;
    Shape shape;
    for (const auto& dim : info.type.dims) {
      const auto* name = std::get_if<std::string>(&dim);
      const auto* size = std::get_if<std::int64_t>(&dim);
      const auto place = name ? sizes.by_name.find(*name) : sizes.by_name.end();
      shape.push_back(size ? *size : place != sizes.by_name.end() ? place->second : sizes.batch);
    }
    desc = TensorDesc{info.type.dtype, shape};
  }
  return descs;
}

ValueMap random_inputs(const Network& network, const OpenSizes& sizes, std::uint64_t seed) {
  ValueMap values;
  const auto descs = input_descs(network, sizes);
  for (const auto& info : network.graph().inputs) {
    const auto place = descs.find(info.name);
    if (place == descs.end()) continue;
    const ValueDesc& desc = place->second;
    if (!desc.is_tensor()) {
      throw Unsupported(
          fmt::format("input '{}' is {}: no random values for it; use an ONNX test "
                      "folder, which brings its own",
                      printable(info.name), onnx::to_string(info.type)));
    }
    values[info.name] = random_tensor(info.name, desc.tensor.dtype, desc.tensor.shape, seed);
  }
  return values;
}

}  // namespace d5
