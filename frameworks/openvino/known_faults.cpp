// SPDX-License-Identifier: Apache-2.0
#include "known_faults.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "d5/core/error.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::openvino {
namespace {

namespace nodes = onnx::nodes;

bool is_any(DType dtype, std::initializer_list<DType> list) {
  return std::ranges::find(list, dtype) != list.end();
}

std::string in_attention(const KnownNode& known) {
  const nodes::Attention view(known.node);
  if (view.left_window_size() >= 0 || view.right_window_size() >= 0) {
    return "left_window_size and right_window_size, which it ignores";
  }
  return {};
}

std::string in_bit_shift(const KnownNode& known) {
  const bool is_signed =
      is_any(known.type(0).dtype, {DType::int8, DType::int16, DType::int32, DType::int64});
  return is_signed ? "signed integers, which it shifts otherwise" : "";
}

std::string in_fused_gemm(const KnownNode& known) {
  const auto* transposed = known.node.attribute<std::int64_t>("transA");
  if (transposed && *transposed != 0) return "transA, which it ignores";
  const auto* activation = known.node.attribute<std::string>("activation");
  if (!activation || *activation == "Relu" || *activation == "LeakyRelu") return {};
  return "activation " + printable(*activation) + ", which it takes for Relu";
}

std::string in_lrn(const KnownNode& known) {
  const float bias = nodes::LRN(known.node).bias();
  return bias != std::trunc(bias) ? "a bias that is no whole number: it cuts it" : "";
}

/// Where the order of numbers matters, and quotients.
std::string in_unsigned(const KnownNode& known) {
  const bool wide = is_any(known.type(0).dtype, {DType::uint32, DType::uint64});
  return wide ? "uint32 and uint64, which it computes as signed" : "";
}

std::string in_pad(const KnownNode& known) {
  constexpr std::size_t kValue = nodes::Pad::In::constant_value;
  const bool told = known.node.has_input(kValue) && !known.constant(kValue);
  return told ? "a value that is no constant: it pads with 0" : "";
}

std::string in_resize(const KnownNode& known) {
  const nodes::Resize view(known.node);
  if (view.exclude_outside() != 0) return "exclude_outside";
  if (view.antialias() != 0) return "antialias, which it computes otherwise";
  return {};
}

std::string in_roi_align(const KnownNode& known) {
  return nodes::RoiAlign(known.node).mode() == "max" ? "mode max, which it samples otherwise" : "";
}

std::string in_space_to_depth(const KnownNode& known) {
  const auto* mode = known.node.attribute<std::string>("mode");
  return mode && *mode == "CRD" ? "mode CRD, which it ignores" : "";
}

std::string in_softmax(const KnownNode& known) {
  if (known.node.opset < 11 || known.node.opset >= 13) return {};
  const auto* told = known.node.attribute<std::int64_t>("axis");
  const std::int64_t axis = told ? *told : 1;
  const onnx::Type type = known.type(0);
  const bool last = axis == -1 || (type.has_shape && axis + 1 == std::int64_t(type.dims.size()));
  return last ? "" : "several axes at once, as in opset 11: it takes one";
}

constexpr ModelFault kFaults[] = {{"Attention", in_attention},
                                  {"BitShift", in_bit_shift},
                                  {"Div", in_unsigned},
                                  {"FusedGemm", in_fused_gemm},
                                  {"Greater", in_unsigned},
                                  {"GreaterOrEqual", in_unsigned},
                                  {"Less", in_unsigned},
                                  {"LessOrEqual", in_unsigned},
                                  {"LRN", in_lrn},
                                  {"Max", in_unsigned},
                                  {"Min", in_unsigned},
                                  {"Mod", in_unsigned},
                                  {"Pad", in_pad},
                                  {"Resize", in_resize},
                                  {"RoiAlign", in_roi_align},
                                  {"Softmax", in_softmax},
                                  {"SpaceToDepth", in_space_to_depth}};

}  // namespace

std::span<const ModelFault> known_faults() { return kFaults; }

}  // namespace d5::openvino
