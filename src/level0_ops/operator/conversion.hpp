// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

/// How a number between two powers of two becomes one of them (float8e8m0).
enum class ExponentRounding { up, down, nearest };  // nearest: ties go up

struct ConversionRules {
  Overflow overflow = Overflow::saturate;  ///< above the range of a float8
  ExponentRounding exponent_rounding = ExponentRounding::up;
};

/// Elements of one type made into another. Integers and small integers keep their low bits; floats
/// are cut towards zero on their way to integers, rounded to nearest even on their way to shorter
/// floats. Both types are told apart when it is made; only texts allocate while it runs.
///
/// Source: ONNX, operator Cast.
class Conversion {
 public:
  /// Throws: Unsupported for complex numbers as text.
  Conversion(DType from, DType to, ConversionRules rules = {});
  /// Shapes: both have `count` elements. Throws: ValueError for text that is no number.
  void run(void* to, const void* from, std::int64_t count) const {
    convert_(to, from, count, write_, rules_);
  }

 private:
  using Write = void (*)(void* to, std::int64_t at, const void* wide, std::int64_t count,
                         const ConversionRules&);
  using Convert = void (*)(void* to, const void* from, std::int64_t count, Write,
                           const ConversionRules&);
  Convert convert_ = nullptr;
  Write write_ = nullptr;  // between numbers: `count` of the wide type, to element `at` on
  ConversionRules rules_;
};

}  // namespace d5::detail
