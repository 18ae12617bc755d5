// SPDX-License-Identifier: Apache-2.0
#include "known_faults.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::openvino {
namespace {

namespace nodes = onnx::nodes;

bool is_any(DType dtype, std::initializer_list<DType> list) {
  return std::ranges::find(list, dtype) != list.end();
}

std::string in_attention(const KnownNode& known) {
  if (!known.node.domain.empty()) return {};
  const nodes::Attention view(known.node);
  using In = nodes::Attention::In;
  if (view.is_causal() != 0 && known.node.has_input(In::past_key)) {
    const onnx::Type q = known.type(In::Q), k = known.type(In::K);
    const auto length = [](const onnx::Type& type) {
      return type.dims.size() < 3 ? onnx::Dim() : type.dims[type.dims.size() == 3 ? 1 : 2];
    };
    if (length(q) != length(k))
      return "is_causal with fewer queries than new keys behind past ones";
  }
  if (view.left_window_size() >= 0 || view.right_window_size() >= 0) {
    return "left_window_size and right_window_size, which it ignores";
  }
  return {};
}

std::string in_bit_shift(const KnownNode& known) {
  const bool is_signed =
      is_any(known.type(0).dtype, {DType::int8, DType::int16, DType::int32, DType::int64});
  return is_signed ? "signed integers, which it shifts differently" : "";
}

/// Faults of com.microsoft's operators; ONNX's own are computed correctly.
std::string in_cut(const KnownNode&) {
  return "values between two steps, which it truncates, and beyond the last, which it wraps around";
}

std::string in_dynamic(const KnownNode&) { return "activations of 8 bits: it keeps the floats"; }

std::string in_fused_gemm(const KnownNode& known) {
  const auto* transposed = known.node.attribute<std::int64_t>("transA");
  if (transposed && *transposed != 0) return "transA, which it ignores";
  const auto* activation = known.node.attribute<std::string>("activation");
  if (!activation || *activation == "Relu" || *activation == "LeakyRelu") return {};
  return "activation " + printable(*activation) + ", which it takes for Relu";
}

std::string in_gather(const KnownNode& known) {
  const onnx::Type indices = known.type(nodes::Gather::In::indices);
  const bool none =
      indices.has_shape && std::ranges::find(indices.dims, onnx::Dim(0)) != indices.dims.end();
  return none ? "empty indices: it divides by their number and crashes the process" : "";
}

std::string in_lrn(const KnownNode& known) {
  if (nodes::LRN(known.node).size() % 2 == 0) return "an even size, which it makes odd";
  const float bias = nodes::LRN(known.node).bias();
  return bias != std::trunc(bias) ? "a bias that is not an integer: it truncates it" : "";
}

/// Matters for comparisons and quotients.
std::string in_unsigned(const KnownNode& known) {
  const bool wide = is_any(known.type(0).dtype, {DType::uint32, DType::uint64});
  return wide ? "uint32 and uint64, which it computes as signed" : "";
}

/// Windows without elements.
std::string in_max_pool(const KnownNode& known) {
  const auto* pads = known.node.attribute<std::vector<std::int64_t>>("pads");
  const auto* kernel = known.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  for (std::size_t i = 0; pads && kernel && i < pads->size() && !kernel->empty(); ++i) {
    if ((*pads)[i] >= (*kernel)[i % kernel->size()]) {
      return "pads as wide as the window, of which it gives the lowest finite number";
    }
  }
  return {};
}

std::string in_normalizer(const KnownNode& known) {
  const auto* norm = known.node.attribute<std::string>("norm");
  return !norm || *norm == "MAX" ? "norm MAX, which it takes of magnitudes" : "";
}

std::string in_pad(const KnownNode& known) {
  constexpr std::size_t kValue = nodes::Pad::In::constant_value;
  const bool told = known.node.has_input(kValue) && !known.constant(kValue);
  return told ? "a value that is not constant: it pads with 0" : "";
}

std::string in_prelu(const KnownNode& known) {
  const onnx::Type x = known.type(0), slope = known.type(1);
  if (!slope.has_shape || slope.dims.size() != 1 || slope.dims[0] == onnx::Dim(1)) return {};
  if (x.has_shape && x.dims.size() < 3) return {};
  const bool other = x.has_shape && std::holds_alternative<std::int64_t>(slope.dims[0]) &&
                     std::holds_alternative<std::int64_t>(x.dims[1]) && slope.dims[0] != x.dims[1];
  return other ? "" : "a slope of one dimension, which it takes for one of channels";
}

/// A non-negative value is a count of iterations.
std::string in_range(const KnownNode& known) {
  const Tensor* numbers[] = {known.constant(0), known.constant(1), known.constant(2)};
  const auto at = [](const Tensor& tensor) {
    double value = 0;
    dispatch(NumberTypes{}, tensor.dtype(), "Range", [&]<class T>() {
      if (tensor.elements() == 1) value = double(Arithmetic<T>(tensor.span<T>()[0]));
    });
    return value;
  };
  const auto& [start, limit, delta] = numbers;
  if (start && delta && !limit && at(*start) == 0 && at(*delta) > 0) return {};
  if (start && delta && limit && (at(*limit) - at(*start)) / at(*delta) > 0) return {};
  return "ranges that may be empty, which it makes of the distance";
}

std::string in_resize(const KnownNode& known) {
  const nodes::Resize view(known.node);
  if (view.exclude_outside() != 0) return "exclude_outside";
  if (view.antialias() != 0) return "antialias, which it computes differently";
  return {};
}

std::string in_roi_align(const KnownNode& known) {
  return nodes::RoiAlign(known.node).mode() == "max" ? "mode max, which it samples differently"
                                                     : "";
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
  const auto rank = std::int64_t(type.dims.size());
  if (!type.has_shape) return axis == -1 ? "" : "an axis of opset 11 in a tensor of unknown rank";
  std::int64_t longer = 0;  // axes that are taken together
  for (std::int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i) {
    longer += type.dims[std::size_t(i)] == onnx::Dim(1) ? 0 : 1;
  }
  const bool on_axis = type.dims[std::size_t(axis < 0 ? axis + rank : axis)] != onnx::Dim(1);
  const bool one = longer == 0 || (longer == 1 && on_axis);
  return one ? "" : "several axes at once, as in opset 11: it takes one";
}

constexpr ModelFault kFaults[] = {{"Attention", in_attention},
                                  {"BitShift", in_bit_shift},
                                  {"Div", in_unsigned},
                                  {"DynamicQuantizeLSTM", in_dynamic},
                                  {"DynamicQuantizeMatMul", in_dynamic},
                                  {"FusedGemm", in_fused_gemm},
                                  {"Gather", in_gather},
                                  {"Greater", in_unsigned},
                                  {"GreaterOrEqual", in_unsigned},
                                  {"Less", in_unsigned},
                                  {"LessOrEqual", in_unsigned},
                                  {"LRN", in_lrn},
                                  {"Max", in_unsigned},
                                  {"MaxPool", in_max_pool},
                                  {"Min", in_unsigned},
                                  {"Mod", in_unsigned},
                                  {"Normalizer", in_normalizer},
                                  {"Pad", in_pad},
                                  {"PRelu", in_prelu},
                                  {"QLinearAdd", in_cut},
                                  {"QLinearAveragePool", in_cut},
                                  {"QLinearConcat", in_cut},
                                  {"QLinearLeakyRelu", in_cut},
                                  {"QLinearMul", in_cut},
                                  {"QLinearSigmoid", in_cut},
                                  {"QLinearSoftmax", in_cut},
                                  {"QLinearWhere", in_cut},
                                  {"Range", in_range},
                                  {"Resize", in_resize},
                                  {"RoiAlign", in_roi_align},
                                  {"Softmax", in_softmax},
                                  {"SpaceToDepth", in_space_to_depth}};

}  // namespace

std::span<const ModelFault> known_faults() { return kFaults; }

}  // namespace d5::openvino
