// SPDX-License-Identifier: Apache-2.0
#include "fuzz/known_differences.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "d5/core/tensor/tensor.hpp"

namespace d5::fuzz {
namespace {

/// Whether a real number that goes into the node is `of_kind`.
bool has_number(const OperatorCase& op_case, bool (*of_kind)(double)) {
  const auto in_tensor = [of_kind](const Value& value) {
    if (!value.is_tensor() || !value.tensor().defined()) return false;
    const Tensor& tensor = value.tensor();
    if (!is_floating_point(tensor.dtype())) return false;
    bool found = false;
    dispatch(FloatTypes{}, tensor.dtype(), "number", [&]<class T>() {
      found = std::ranges::any_of(tensor.span<T>(),
                                  [&](const T& x) { return of_kind(double(Arithmetic<T>(x))); });
    });
    return found;
  };
  const auto in_attribute = [of_kind](const auto& attribute) {
    const auto* number = std::get_if<float>(&attribute.second);
    return number && of_kind(double(*number));
  };
  return std::ranges::any_of(op_case.inputs, in_tensor) ||
         std::ranges::any_of(op_case.node.attributes, in_attribute);
}

bool is_nan(double x) { return std::isnan(x); }
/// Its square is infinite in float32.
bool is_huge(double x) { return std::fabs(x) > 1e18; }

/// Too small to be normal in float32.
bool is_subnormal(double x) { return x != 0 && std::fabs(x) < 0x1p-126; }

bool is_infinite(double x) { return std::isinf(x); }
/// No integer holds it.
bool is_beyond_integers(double x) { return !(std::fabs(x) < 0x1p31); }
/// Some type of integers does not hold it.
bool is_beyond_bytes(double x) { return !(x > -1 && x < 128); }

template <bool (*of_kind)(double)>
bool has(const OperatorCase& op_case) {
  return has_number(op_case, of_kind);
}

/// Whether some integer of input `i`, or of any input without a place, is `of_kind`.
template <class F>
bool has_integer(const OperatorCase& op_case, std::optional<std::size_t> place, F of_kind) {
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const Value& value = op_case.inputs[i];
    if (place.value_or(i) != i || !value.is_tensor() || !value.tensor().defined()) continue;
    if (!is_integer(value.tensor().dtype())) continue;
    bool found = false;
    dispatch(IntegerTypes{}, value.tensor().dtype(), "integer",
             [&]<class T>() { found = std::ranges::any_of(value.tensor().span<T>(), of_kind); });
    if (found) return true;
  }
  return false;
}

bool has_wide_integer(const OperatorCase& op_case) {
  return has_integer(op_case, {}, [](auto x) { return !std::in_range<std::int32_t>(x); });
}

bool divides_by_zero(const OperatorCase& op_case) {
  return has_integer(op_case, 1, [](auto x) { return x == 0; });
}

/// A flag that is neither 0 nor 1.
bool has_odd_flag(const OperatorCase& op_case) {
  constexpr std::string_view kFlags[] = {
      "ceil_mode", "count_include_pad",    "inverse",  "keepdims",
      "largest",   "noop_with_empty_axes", "onesided", "saturate",
      "sorted",    "select_last_index",    "fmod",     "upper",
      "is_causal", "interleaved"};
  return std::ranges::any_of(op_case.node.attributes, [&](const auto& attribute) {
    const auto* number = std::get_if<std::int64_t>(&attribute.second);
    return number && *number != 0 && *number != 1 &&
           std::ranges::find(kFlags, attribute.first) != std::end(kFlags);
  });
}

/// Scores with a mask are an output.
bool shows_scores(const OperatorCase& op_case) {
  return op_case.node.has_output(3) &&
         op_case.node.attribute<std::int64_t>("qk_matmul_output_mode") != nullptr;
}

/// The scale of 256 steps between them would be 0, or nearly so.
bool has_no_range(const OperatorCase& op_case) {
  return !has_number(op_case, [](double x) { return std::fabs(x) > 1e-35; });
}

/// Whether an input has bytes: ONNX does not define results that overflow them.
bool has_bytes(const OperatorCase& op_case) {
  return std::ranges::any_of(op_case.inputs, [](const Value& value) {
    return value.is_tensor() && value.tensor().defined() &&
           (value.tensor().dtype() == DType::int8 || value.tensor().dtype() == DType::uint8);
  });
}

/// Whether ONNX Runtime adds two products of uint8 and int8 in 16 bits, which saturate: on
/// processors without VNNI, for weights of more than 7 bits.
bool pairs_may_saturate(const OperatorCase& op_case) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) return false;
#endif
  constexpr int kLargest = 63;
  bool has_unsigned = false, has_large = false;
  for (const Value& value : op_case.inputs) {
    if (!value.is_tensor() || !value.tensor().defined()) continue;
    const Tensor& tensor = value.tensor();
    has_unsigned |= tensor.dtype() == DType::uint8;
    has_large |= tensor.dtype() == DType::int8 &&
                 std::ranges::any_of(tensor.span<std::int8_t>(),
                                     [](std::int8_t x) { return x > kLargest || x < -kLargest; });
  }
  return has_unsigned && has_large;
}

bool makes_texts(const OperatorCase& op_case) {
  const auto* type = op_case.node.attribute<std::int64_t>("to");
  if (type) return *type == std::int64_t(DType::string);
  return op_case.inputs.size() > 1 && op_case.inputs[1].is_tensor() &&
         op_case.inputs[1].tensor().dtype() == DType::string;
}

bool has_integers(const OperatorCase& op_case) {
  return !op_case.inputs.empty() && op_case.inputs[0].is_tensor() &&
         is_integer(op_case.inputs[0].tensor().dtype());
}

bool has_scales(const OperatorCase& op_case) { return op_case.node.has_input(2); }

bool has_reals(const OperatorCase& op_case) {
  return !op_case.inputs.empty() && op_case.inputs[0].is_tensor() &&
         is_floating_point(op_case.inputs[0].tensor().dtype());
}

bool is_empty(const OperatorCase& op_case) {
  return !op_case.inputs.empty() && op_case.inputs[0].is_tensor() &&
         op_case.inputs[0].tensor().elements() == 0;
}

bool has_old_mask(const OperatorCase& op_case) {
  return op_case.node.opset < 12 && op_case.node.has_output(1);
}

bool has_empty_axes(const OperatorCase& op_case) {
  return op_case.node.inputs.size() > 1 && !op_case.node.has_input(1);
}

struct Known {
  std::string_view framework, op;  ///< op: all of them where it is empty
  bool (*applies)(const OperatorCase&);
  std::string_view why;
};

constexpr Known kKnown[] = {
    {"torch", "Sign", has<is_nan>, "the sign of NaN is 0"},
    {"torch", "Clip", has<is_nan>, "a limit that is NaN makes everything NaN; ONNX compares"},
    {"torch", "ThresholdedRelu", has<is_nan>, "it asks what is not above a threshold"},
    {"torch", "Gelu", has<is_infinite>, "oneDNN, which it calls, gives NaN"},
    {"torch", "Erf", has_integers, "it is a real number, and refused as another"},
    {"torch", "InstanceNormalization", has<is_infinite>, "the scale is applied in another order"},
    {"torch", "Attention", has<is_infinite>, "0 inf is NaN"},
    {"torch", "Cast", has<is_beyond_integers>, "ONNX says nothing of what it becomes"},
    {"torch", "CastLike", has<is_beyond_integers>, "the same"},
    {"torch", "ReduceL2", has<is_huge>, "squares are summed in float32"},
    {"torch", "ReduceSumSquare", has<is_huge>, "squares are summed in float32"},
    {"torch", "DynamicQuantizeLinear", has<is_infinite>, "a scale that is infinite, times 0"},
    {"torch", "Normalizer", has<is_nan>, "ONNX says nothing of the largest where one is NaN"},
    {"torch", "LRN", has<is_infinite>, "1 to the power of infinity, rounded before"},
    // The processor's minimum and maximum give the second operand where one is NaN.
    {"onednn", "Relu", has<is_nan>, "NaN becomes 0"},
    {"onednn", "FusedConv", has<is_nan>, "NaN becomes 0"},
    {"onednn", "FusedGemm", has<is_nan>, "NaN becomes 0"},
    {"onednn", "HardSigmoid", has<is_nan>, "NaN becomes a limit"},
    {"onednn", "Clip", has<is_nan>, "NaN becomes a limit"},
    {"onednn", "Clip", has<is_infinite>, "a limit that is left out is the largest number"},
    {"onednn", "Exp", has<is_nan>, "NaN becomes infinite"},
    {"onednn", "Max", has<is_nan>, "a number is larger than NaN"},
    {"onednn", "Min", has<is_nan>, "a number is smaller than NaN"},
    {"onednn", "Greater", has<is_nan>, "NaN is larger than any number"},
    {"onednn", "GreaterOrEqual", has<is_nan>, "NaN is larger than any number"},
    {"onednn", "ReduceMax", has<is_nan>, "a number is larger than NaN"},
    {"onednn", "ReduceMin", has<is_nan>, "a number is smaller than NaN"},
    {"onednn", "MaxPool", has<is_nan>, "a number is larger than NaN"},
    {"onednn", "GlobalMaxPool", has<is_nan>, "a number is larger than NaN"},
    {"onednn", "MaxPool", has<is_infinite>, "the largest of -inf is the lowest finite number"},
    {"onednn", "GlobalMaxPool", has<is_infinite>, "the same"},
    {"onednn", "HardSigmoid", has<is_infinite>, "a NaN on the way becomes a limit"},
    {"onednn", "PRelu", has<is_infinite>, "both branches are computed and added: 0 inf is NaN"},
    {"onednn", "Gelu", has<is_infinite>, "0 inf is NaN"},
    {"onednn", "ReduceL2", has<is_huge>, "squares are summed in float32"},
    {"onednn", "Softmax", has<is_nan>, "NaN is no largest number"},
    {"onednn", "LogSoftmax", has<is_nan>, "NaN is no largest number"},
    {"onednn", "Softmax", has<is_infinite>, "inf - inf counts as 0"},
    {"onednn", "LogSoftmax", has<is_infinite>, "inf - inf counts as 0"},
    {"tensorflow", "", has<is_subnormal>, "numbers that are not normal are zero"},
    {"tensorflow", "Cast", has<is_beyond_bytes>, "ONNX says nothing of what it becomes"},
    {"tensorflow", "ArgMax", has<is_nan>, "NaN is never larger"},
    {"tensorflow", "ArgMin", has<is_nan>, "NaN is never smaller"},
    {"tensorflow", "LRN", has<is_infinite>, "x times 0 where ONNX divides"},
    {"tensorflow", "Shrink", has<is_beyond_integers>, "ONNX says nothing of what it becomes"},
    {"onnxruntime", "", has_odd_flag, "it asks whether a flag is 1"},
    {"onnxruntime", "Attention", shows_scores, "what is masked has the lowest number"},
    {"onnxruntime", "Cast", has<is_beyond_integers>, "ONNX says nothing of what it becomes"},
    {"onnxruntime", "CastLike", has<is_beyond_integers>, "ONNX says nothing of what it becomes"},
    {"onnxruntime", "Cast", makes_texts, "numbers have nine digits"},
    {"onnxruntime", "CastLike", makes_texts, "numbers have nine digits"},
    {"onnxruntime", "Clip", has<is_infinite>, "a limit that is left out is the largest number"},
    {"onnxruntime", "Dropout", has_old_mask, "the mask is 0 where nothing is dropped"},
    {"onnxruntime", "DynamicQuantizeLinear", has_no_range, "the scale of zeros is 1"},
    {"onnxruntime", "LpNormalization", has<is_huge>, "a norm that is infinite leaves no sign"},
    {"onnxruntime", "Mod", has_reals, "without fmod it has no real numbers"},
    {"onnxruntime", "ConvInteger", pairs_may_saturate, "16 bits hold two products"},
    {"onnxruntime", "MatMulInteger", pairs_may_saturate, "16 bits hold two products"},
    {"onnxruntime", "QLinearConv", pairs_may_saturate, "16 bits hold two products"},
    {"onnxruntime", "QLinearMatMul", pairs_may_saturate, "16 bits hold two products"},
    {"onnxruntime", "ReduceL2", has<is_huge>, "squares are summed in float32"},
    {"onnxruntime", "ReduceMean", is_empty, "the mean of nothing is 0"},
    {"onnxruntime", "ReduceSumSquare", has_wide_integer, "squares that overflow are the largest"},
    {"onnxruntime", "Selu", has<is_infinite>, "gamma and alpha are multiplied first"},
    {"onnxruntime", "Resize", has_scales, "halves round otherwise, and sizes with align_corners"},
    {"onnxruntime", "Shrink", has<is_infinite>, "ONNX says nothing of its integer"},
    {"onnxruntime", "Shrink", has_integers, "ONNX does not say when numbers become integers"},
    {"onnxruntime", "Unique", has<is_nan>, "NaN equals what is beside it"},
    {"onnxruntime", "Squeeze", has_empty_axes, "axes that are empty are not none"},
    {"openvino", "", has_odd_flag, "it asks whether a flag is 1"},
    {"openvino", "", has_wide_integer, "it computes 64-bit integers in 32 bits"},
    {"openvino", "Abs", has_bytes, "what does not fit saturates"},
    {"openvino", "Add", has_bytes, "what does not fit saturates"},
    {"openvino", "BitShift", has_bytes, "what does not fit saturates"},
    {"openvino", "Div", divides_by_zero, "it divides integers as real numbers"},
    {"openvino", "DynamicQuantizeLinear", has_no_range, "the scale of zeros is 0"},
    {"openvino", "Exp", has<is_nan>, "of NaN in bfloat16 it is infinite"},
    {"openvino", "LogSoftmax", has<is_nan>, "of NaN in bfloat16 it is infinite"},
    {"openvino", "Mod", divides_by_zero, "it divides integers as real numbers"},
    {"openvino", "Mul", has_bytes, "what does not fit saturates"},
    {"openvino", "Neg", has_bytes, "what does not fit saturates"},
    {"openvino", "Pow", has_integers, "what does not fit is another number"},
    {"openvino", "Sub", has_bytes, "what does not fit saturates"},
    {"openvino", "QuantizeLinear", has<is_huge>,
     "ONNX says nothing of NaN; 16 bits do not saturate"},
    {"openvino", "Resize", has_scales, "halves round otherwise, and sizes with align_corners"},
};

constexpr std::string_view kCheckingLess[] = {"onnxruntime", "openvino", "tensorflow"};

}  // namespace

bool checks_less(const std::string& framework) {
  return std::ranges::find(kCheckingLess, framework) != std::end(kCheckingLess);
}

double known_tolerance(const OperatorCase& op_case, const std::string& framework) {
  // Halves of a step go where another order of scales puts them.
  return framework == "torch" && op_case.node.op_type == "QLinearConv" ? 1 : 0;
}

bool is_known_to_differ(const OperatorCase& op_case, const std::string& framework) {
  return std::ranges::any_of(kKnown, [&](const Known& known) {
    return known.framework == framework && (known.op.empty() || known.op == op_case.node.op_type) &&
           known.applies(op_case);
  });
}

}  // namespace d5::fuzz
