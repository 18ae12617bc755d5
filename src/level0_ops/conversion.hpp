// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor.hpp"

namespace d5::detail {

/// How a number between two powers of two becomes one of them (float8e8m0).
enum class ExponentRounding { up, down, nearest };  // nearest: ties go up

struct ConversionRules {
  Overflow overflow = Overflow::saturate;  ///< above the range of a float8
  ExponentRounding exponent_rounding = ExponentRounding::up;
};

/// Overwrites `to` with the elements of `from`, converted to its type. Integers and small integers
/// keep their low bits; floats are cut towards zero on their way to integers, rounded to nearest
/// even on their way to shorter floats.
///
/// Shapes: the same. Throws: ValueError for text that is no number.
/// Source: ONNX, operator Cast.
void convert_elements(const Tensor& from, Tensor& to, const ConversionRules& rules);

}  // namespace d5::detail
