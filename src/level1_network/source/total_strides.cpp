// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/total_strides.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {
namespace {

using Strides = std::vector<double>;

constexpr std::array<std::string_view, 8> kSmaller = {
    "AveragePool", "Conv",    "ConvInteger", "FusedConv",
    "LpPool",      "MaxPool", "QLinearConv", "QLinearAveragePool"};
/// Operators that change or remove axes.
constexpr std::array<std::string_view, 14> kEnd = {
    "Flatten", "Gather",    "Gemm",       "GlobalAveragePool", "GlobalMaxPool",
    "MatMul",  "ReduceMax", "ReduceMean", "ReduceSum",         "Reshape",
    "Shape",   "Squeeze",   "Transpose",  "Unsqueeze"};

bool is_among(std::span<const std::string_view> operators, const onnx::Node& node) {
  return std::ranges::find(operators, node.op_type) != operators.end();
}

/// Scales of a Resize or an Upsample, if constant; otherwise 1.
Strides scales_of(const onnx::Node& node, const onnx::Graph& graph, std::size_t axes) {
  Strides scales(axes, 1);
  for (const auto& input : node.inputs) {
    const auto known = graph.initializers.find(input);
    const bool is_it = known != graph.initializers.end() &&
                       known->second.dtype() == DType::float32 &&
                       known->second.elements() == std::int64_t(axes + 2);
    if (!is_it) continue;
    for (std::size_t i = 0; i < axes; ++i) scales[i] = double(known->second.span<float>()[i + 2]);
  }
  return scales;
}

}  // namespace

std::vector<std::int64_t> total_strides(const onnx::Graph& graph, const std::string& input) {
  const auto info = std::ranges::find(graph.inputs, input, &onnx::ValueInfo::name);
  if (info == graph.inputs.end() || info->type.dims.size() < 3) return {};
  const std::size_t axes = info->type.dims.size() - 2;
  std::map<std::string, Strides, std::less<>> of = {{input, Strides(axes, 1)}};
  Strides largest(axes, 1);
  for (const onnx::Node& node : graph.nodes) {
    if (is_among(kEnd, node)) continue;
    Strides here(axes, 0);
    for (const auto& name : node.inputs) {
      const auto known = of.find(name);
      for (std::size_t i = 0; known != of.end() && i < axes; ++i) {
        here[i] = std::max(here[i], known->second[i]);
      }
    }
    if (here.front() == 0) continue;  // it does not come from there
    const bool grows = node.op_type == "Resize" || node.op_type == "Upsample";
    const Strides scales = grows ? scales_of(node, graph, axes) : Strides(axes, 1);
    const auto* strides = node.attribute<std::vector<std::int64_t>>("strides");
    for (std::size_t i = 0; i < axes; ++i) {
      const double stride = strides && i < strides->size() ? double((*strides)[i]) : 1;
      if (is_among(kSmaller, node)) here[i] *= stride;
      if (node.op_type == "ConvTranspose") here[i] /= stride;
      if (scales[i] > 0) here[i] /= scales[i];
      largest[i] = std::max(largest[i], here[i]);
    }
    for (const auto& output : node.outputs) of[output] = here;
  }
  std::vector<std::int64_t> result;
  for (const double stride : largest) result.push_back(std::int64_t(std::ceil(stride)));
  return result;
}

}  // namespace d5
