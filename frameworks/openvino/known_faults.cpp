// SPDX-License-Identifier: Apache-2.0
#include "known_faults.hpp"

#include <algorithm>
#include <string>

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
      is_any(known.dtype(0), {DType::int8, DType::int16, DType::int32, DType::int64});
  return is_signed ? "signed integers, which it shifts otherwise" : "";
}

std::string in_fused_gemm(const KnownNode& known) {
  const auto* transposed = known.node.attribute<std::int64_t>("transA");
  return transposed && *transposed != 0 ? "transA, which it ignores" : "";
}

/// Min and Max.
std::string in_extremum(const KnownNode& known) {
  const bool wide = is_any(known.dtype(0), {DType::uint32, DType::uint64});
  return wide ? "uint32 and uint64, which it compares as signed" : "";
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

constexpr ModelFault kFaults[] = {
    {"Attention", in_attention}, {"BitShift", in_bit_shift}, {"FusedGemm", in_fused_gemm},
    {"Max", in_extremum},        {"Min", in_extremum},       {"Pad", in_pad},
    {"Resize", in_resize},       {"RoiAlign", in_roi_align}, {"SpaceToDepth", in_space_to_depth}};

}  // namespace

std::span<const ModelFault> known_faults() { return kFaults; }

}  // namespace d5::openvino
