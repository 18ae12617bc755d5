// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

/// Rounding of a number between two powers of two (float8e8m0).
enum class ExponentRounding { up, down, nearest };  // nearest: ties go up

struct ConversionRules {
  Overflow overflow = Overflow::saturate;  ///< above the range of a float8
  ExponentRounding exponent_rounding = ExponentRounding::up;
};

/// Conversion of elements between types. Integers keep their low bits. Floats are truncated towards
/// zero for integers, and rounded to nearest even for shorter floats. Dispatches on both types at
/// construction; runs allocate only for texts.
///
/// Source: ONNX, operator Cast.
class Conversion {
 public:
  /// Throws: Unsupported for complex numbers as text.
  Conversion(DType from, DType to, ConversionRules rules = {});
  /// Shapes: both have `count` elements. Throws: ValueError for text that is not a number.
  void run(void* to, const void* from, std::int64_t count) const {
    convert_(to, from, count, write_, rules_);
  }

 private:
  using Write = void (*)(void* to, std::int64_t at, const void* wide, std::int64_t count,
                         const ConversionRules&);
  using Convert = void (*)(void* to, const void* from, std::int64_t count, Write,
                           const ConversionRules&);
  Convert convert_ = nullptr;
  Write write_ = nullptr;  // for numbers: writes `count` wide elements from element `at` on
  ConversionRules rules_;
};

}  // namespace d5::detail
