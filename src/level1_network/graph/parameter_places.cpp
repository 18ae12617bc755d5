// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/parameter_places.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "d5/core/tensor/dtype.hpp"
#include "d5/core/tensor/small_float.hpp"

namespace d5 {
namespace {

using PlaceByInput = std::map<std::size_t, ParameterPlace>;

const std::map<std::string_view, PlaceByInput>& standard_places() {
  using enum ParameterPlace;
  static const std::map<std::string_view, PlaceByInput> places{
      {"Conv", {{1, weight}, {2, weight}}},
      {"ConvTranspose", {{1, weight}, {2, weight}}},
      {"DeformConv", {{1, weight}, {3, weight}}},
      {"Gemm", {{0, weight}, {1, weight}, {2, weight}}},
      {"MatMul", {{0, weight}, {1, weight}}},
      {"RNN", {{1, weight}, {2, weight}, {3, weight}}},
      {"GRU", {{1, weight}, {2, weight}, {3, weight}}},
      {"LSTM", {{1, weight}, {2, weight}, {3, weight}, {7, weight}}},
      {"PRelu", {{1, weight}}},
      {"BatchNormalization", {{1, scale}, {2, shift}}},
      {"InstanceNormalization", {{1, scale}, {2, shift}}},
      {"LayerNormalization", {{1, scale}, {2, shift}}},
      {"GroupNormalization", {{1, scale}, {2, shift}}},
      {"RMSNormalization", {{1, scale}}},
      {"Add", {{0, term}, {1, term}}},
      {"Mul", {{0, term}, {1, term}}}};
  return places;
}

/// Whether `holds` is true of any element.
template <class Holds>
bool has_element(const Tensor& value, Holds holds) {
  const Tensor there = value.on_host();
  bool found = false;
  dispatch(FloatTypes{}, there.dtype(), "parameter", [&]<class T>() {
    found = std::ranges::any_of(
        there.span<T>(), [&](T one) { return holds(double(static_cast<Arithmetic<T>>(one))); });
  });
  return found;
}

}  // namespace

ParameterPlace parameter_place(const onnx::Node& node, std::size_t i, const Tensor& value) {
  using enum ParameterPlace;
  if (!node.domain.empty()) return weight;
  if (node.op_type == "Gather" || node.op_type == "Einsum") {
    return value.shape().rank() >= 2 && (i == 0 || node.op_type == "Einsum") ? weight : none;
  }
  if (node.op_type == "Sum" || node.op_type == "Concat") return term;
  const auto op = standard_places().find(node.op_type);
  if (op == standard_places().end()) return none;
  const auto place = op->second.find(i);
  return place == op->second.end() ? none : place->second;
}

bool takes_a_bias(const onnx::Node& node) {
  static const std::set<std::string_view> linear{"Conv", "ConvTranspose", "Gemm", "MatMul",
                                                 "Einsum"};
  return node.domain.empty() && linear.contains(node.op_type);
}

bool is_filled_with(const Tensor& value, double number) {
  return value.elements() > 0 && !has_element(value, [&](double one) { return one != number; });
}

bool is_mask(const Tensor& value) {
  constexpr double kNever = -1e4;  // stands for minus infinity in float16 models
  return has_element(value, [](double one) { return one <= kNever; });
}

}  // namespace d5
