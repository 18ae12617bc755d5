// SPDX-License-Identifier: Apache-2.0
#include "fuzz/known_differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/core/tensor.hpp"

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

struct Known {
  std::string_view framework, op;  ///< "*": every operator
  bool (*of_kind)(double);
  std::string_view why;
};

constexpr std::array kKnown = {
    Known{"torch", "Sign", is_nan, "the sign of NaN is 0"},
    Known{"torch", "Clip", is_nan, "a limit that is NaN makes everything NaN; ONNX compares"},
    Known{"torch", "ThresholdedRelu", is_nan, "it asks what is not above a threshold"},
    Known{"torch", "Gelu", is_infinite, "oneDNN, which it calls, gives NaN"},
    Known{"torch", "InstanceNormalization", is_infinite, "the scale is applied in another order"},
    Known{"torch", "Cast", is_beyond_integers, "ONNX says nothing of what it becomes"},
    Known{"torch", "CastLike", is_beyond_integers, "the same"},
    Known{"torch", "ReduceL2", is_huge, "squares are summed in float32"},
    Known{"torch", "ReduceSumSquare", is_huge, "squares are summed in float32"},
    Known{"torch", "DynamicQuantizeLinear", is_infinite, "a scale that is infinite, times 0"},
    Known{"torch", "Normalizer", is_nan, "ONNX says nothing of the largest where one is NaN"},
    Known{"torch", "LRN", is_infinite, "1 to the power of infinity, rounded before"},
    // The processor's minimum and maximum give the second operand where one is NaN.
    Known{"onednn", "Relu", is_nan, "NaN becomes 0"},
    Known{"onednn", "FusedConv", is_nan, "NaN becomes 0"},
    Known{"onednn", "FusedGemm", is_nan, "NaN becomes 0"},
    Known{"onednn", "HardSigmoid", is_nan, "NaN becomes a limit"},
    Known{"onednn", "Clip", is_nan, "NaN becomes a limit"},
    Known{"onednn", "Exp", is_nan, "NaN becomes infinite"},
    Known{"onednn", "Max", is_nan, "a number is larger than NaN"},
    Known{"onednn", "Min", is_nan, "a number is smaller than NaN"},
    Known{"onednn", "Greater", is_nan, "NaN is larger than any number"},
    Known{"onednn", "GreaterOrEqual", is_nan, "NaN is larger than any number"},
    Known{"onednn", "ReduceMax", is_nan, "a number is larger than NaN"},
    Known{"onednn", "ReduceMin", is_nan, "a number is smaller than NaN"},
    Known{"onednn", "MaxPool", is_nan, "a number is larger than NaN"},
    Known{"onednn", "GlobalMaxPool", is_nan, "a number is larger than NaN"},
    Known{"onednn", "MaxPool", is_infinite, "the largest of -inf is the lowest finite number"},
    Known{"onednn", "GlobalMaxPool", is_infinite, "the same"},
    Known{"onednn", "HardSigmoid", is_infinite, "a NaN on the way becomes a limit"},
    Known{"onednn", "PRelu", is_infinite, "both branches are computed and added: 0 inf is NaN"},
    Known{"onednn", "Gelu", is_infinite, "0 inf is NaN"},
    Known{"onednn", "Softmax", is_infinite, "inf - inf counts as 0"},
    Known{"onednn", "LogSoftmax", is_infinite, "inf - inf counts as 0"},
    Known{"tensorflow", "*", is_subnormal, "numbers that are not normal are zero"},
    Known{"tensorflow", "Cast", is_beyond_bytes, "ONNX says nothing of what it becomes"},
    Known{"tensorflow", "ArgMax", is_nan, "NaN is never larger"},
    Known{"tensorflow", "ArgMin", is_nan, "NaN is never smaller"},
    Known{"tensorflow", "LRN", is_infinite, "x times 0 where ONNX divides"},
    Known{"tensorflow", "Shrink", is_beyond_integers, "ONNX says nothing of what it becomes"},
};

}  // namespace

bool is_known_to_differ(const OperatorCase& op_case, const std::string& framework) {
  return std::ranges::any_of(kKnown, [&](const Known& known) {
    return known.framework == framework && (known.op == "*" || known.op == op_case.node.op_type) &&
           has_number(op_case, known.of_kind);
  });
}

}  // namespace d5::fuzz
