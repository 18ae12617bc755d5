// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/open_dims.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace d5 {
namespace {

/// Inputs that are fed.
std::vector<const onnx::ValueInfo*> fed_inputs(const Network& network) {
  const auto names = network.input_names();
  std::vector<const onnx::ValueInfo*> infos;
  for (const auto& info : network.graph().inputs) {
    if (std::ranges::find(names, info.name) != names.end()) infos.push_back(&info);
  }
  return infos;
}

/// Empty if the dimension is fixed. Exporters write "?" for an open dimension without a name.
std::string name_of_dim(const onnx::ValueInfo& info, std::size_t axis) {
  const onnx::Dim& dim = info.type.dims[axis];
  if (std::holds_alternative<std::int64_t>(dim)) return "";
  const auto* name = std::get_if<std::string>(&dim);
  return name && !name->empty() && *name != "?" ? *name : axis_name(info.name, axis);
}

bool is_of_any_rank(const onnx::ValueInfo& info) {
  return info.type.kind == ValueKind::tensor && !info.type.has_shape &&
         info.type.dtype != DType::undefined;
}

/// Sizes in `sizes` for the first axes of an input; empty if there are none.
Shape shape_by_axes(const std::string& input, const OpenSizes& sizes) {
  Shape shape;
  for (;;) {
    const auto size = sizes.by_name.find(axis_name(input, shape.rank()));
    if (size == sizes.by_name.end()) return shape;
    shape.push_back(size->second);
  }
}

}  // namespace

std::vector<OpenDim> open_dims(const Network& network) {
  std::vector<OpenDim> dims;
  for (const auto* info : fed_inputs(network)) {
    for (std::size_t axis = 0; axis < info->type.dims.size(); ++axis) {
      const std::string name = name_of_dim(*info, axis);
      if (name.empty()) continue;
      auto place = std::ranges::find(dims, name, &OpenDim::name);
      if (place == dims.end()) place = dims.insert(place, OpenDim{.name = name});
      place->places.emplace_back(info->name, axis);
      place->is_first = place->is_first || axis == 0;
    }
  }
  return dims;
}

std::string axis_name(const std::string& input, std::size_t axis) {
  return fmt::format("{}:{}", input, axis);
}

std::vector<std::string> inputs_of_any_rank(const Network& network) {
  std::vector<std::string> names;
  for (const auto* info : fed_inputs(network)) {
    if (is_of_any_rank(*info)) names.push_back(info->name);
  }
  return names;
}

std::map<std::string, ValueDesc> sized_descs(const Network& network, const OpenSizes& sizes) {
  std::map<std::string, ValueDesc> descs;
  for (const auto* info : fed_inputs(network)) {
    ValueDesc& desc = descs[info->name];
    if (is_of_any_rank(*info)) {
      const Shape shape = shape_by_axes(info->name, sizes);
      if (shape.rank() > 0) desc = TensorDesc{info->type.dtype, shape};
      continue;
    }
    if (info->type.kind != ValueKind::tensor || !info->type.has_shape) continue;
    Shape shape;
    for (std::size_t axis = 0; axis < info->type.dims.size(); ++axis) {
      const auto* size = std::get_if<std::int64_t>(&info->type.dims[axis]);
      const auto place = sizes.by_name.find(name_of_dim(*info, axis));
      const bool has_own = !size && place != sizes.by_name.end();
      shape.push_back(size ? *size : has_own ? place->second : sizes.batch);
    }
    desc = TensorDesc{info->type.dtype, shape};
  }
  return descs;
}

}  // namespace d5
