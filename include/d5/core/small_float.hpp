// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace d5 {

/// What a small float does at the top of its range.
enum class SmallFloatKind {
  ieee,         ///< infinities and NaNs, as IEEE 754
  finite,       ///< "FN": no infinity; NaN is all ones (float8e4m3fn)
  finite_uz,    ///< "FNUZ": no infinity, no negative zero; NaN is the code of negative zero
  no_specials,  ///< neither infinity nor NaN (float4e2m1)
};

/// What a conversion does with a number above the largest finite one.
enum class Overflow { saturate, to_infinity };

/// A float of `E` exponent and `M` mantissa bits, kept as its bits, computed with as float.
///
/// Source: IEEE 754; "FP8 Formats for Deep Learning" (arXiv 2209.05433); "8-bit Numerical Formats
/// for Deep Neural Networks" (arXiv 2206.02915); OCP Microscaling Formats 1.0.
template <int E, int M, int Bias, SmallFloatKind Kind>
struct SmallFloat {
  using Bits = std::conditional_t<(1 + E + M > 8), std::uint16_t, std::uint8_t>;
  Bits bits = 0;

  static constexpr int kWidth = 1 + E + M;
  static constexpr Bits kSign = Bits(1u << (E + M));
  static constexpr Bits kMagnitude = Bits(kSign - 1);
  static constexpr Bits kExponentMask = Bits(kMagnitude & ~((1u << M) - 1u));
  static constexpr Bits kNan = Kind == SmallFloatKind::ieee ? Bits(kExponentMask | (1u << (M - 1)))
                               : Kind == SmallFloatKind::finite    ? kMagnitude
                               : Kind == SmallFloatKind::finite_uz ? kSign
                                                                   : kMagnitude;
  static constexpr Bits kLargest = Kind == SmallFloatKind::ieee     ? Bits(kExponentMask - 1)
                                   : Kind == SmallFloatKind::finite ? Bits(kMagnitude - 1)
                                                                    : kMagnitude;

  constexpr SmallFloat() = default;
  /// Rounds to nearest even; a number above the range becomes infinity, or NaN where there is none.
  SmallFloat(float value) : bits(encode(value, Overflow::to_infinity)) {}
  SmallFloat(double value, Overflow overflow) : bits(encode(value, overflow)) {}
  static constexpr SmallFloat from_bits(Bits bits) {
    SmallFloat result;
    result.bits = bits;
    return result;
  }

  operator float() const { return decode(bits); }

  static float decode(Bits bits) {
    if constexpr (E == 8 && M == 7) {
      return std::bit_cast<float>(std::uint32_t{bits} << 16);
    }
    const bool negative = bits & kSign;
    const Bits magnitude = bits & kMagnitude;
    const int exponent = magnitude >> M;
    const int mantissa = magnitude & ((1 << M) - 1);
    if constexpr (Kind == SmallFloatKind::ieee) {
      if (exponent == (1 << E) - 1) {
        if (mantissa != 0) return std::numeric_limits<float>::quiet_NaN();
        return negative ? -std::numeric_limits<float>::infinity()
                        : std::numeric_limits<float>::infinity();
      }
    }
    if constexpr (Kind == SmallFloatKind::finite) {
      if (magnitude == kNan) return std::numeric_limits<float>::quiet_NaN();
    }
    if constexpr (Kind == SmallFloatKind::finite_uz) {
      if (bits == kNan) return std::numeric_limits<float>::quiet_NaN();
    }
    const float value = exponent == 0
                            ? std::ldexp(float(mantissa), 1 - Bias - M)
                            : std::ldexp(float(mantissa + (1 << M)), exponent - Bias - M);
    return negative ? -value : value;
  }

  static Bits encode(double value, Overflow overflow) {
    if (std::isnan(value)) {
      if constexpr (Kind == SmallFloatKind::no_specials) return kLargest;
      return std::signbit(value) && Kind != SmallFloatKind::finite_uz ? Bits(kSign | kNan) : kNan;
    }
    const Bits sign = std::signbit(value) ? kSign : Bits(0);
    const double magnitude = std::fabs(value);
    const double largest = decode(kLargest);
    const auto above = [&]() -> Bits {
      if constexpr (Kind == SmallFloatKind::no_specials) return Bits(sign | kLargest);
      if (overflow == Overflow::saturate) return Bits(sign | kLargest);
      if constexpr (Kind == SmallFloatKind::ieee) return Bits(sign | kExponentMask);
      if constexpr (Kind == SmallFloatKind::finite_uz) return kNan;
      return Bits(sign | kNan);
    };
    if (std::isinf(value)) return above();
    int exponent = magnitude > 0 ? std::ilogb(magnitude) : 1 - Bias;
    if (exponent < 1 - Bias) exponent = 1 - Bias;
    // The distance between neighbours here; rint rounds ties to even, as the formats ask.
    const double units = std::rint(std::ldexp(magnitude, M - exponent));
    const double rounded = std::ldexp(units, exponent - M);
    if (rounded > largest) return above();
    if (rounded == 0) return Kind == SmallFloatKind::finite_uz ? Bits(0) : sign;
    // A carry out of the mantissa moves into the exponent by itself.
    const auto code = (unsigned(exponent + Bias - 1) << M) + unsigned(units);
    return Bits(sign | code);
  }
};

using Float16 = SmallFloat<5, 10, 15, SmallFloatKind::ieee>;
using BFloat16 = SmallFloat<8, 7, 127, SmallFloatKind::ieee>;
using Float8E4M3FN = SmallFloat<4, 3, 7, SmallFloatKind::finite>;
using Float8E4M3FNUZ = SmallFloat<4, 3, 8, SmallFloatKind::finite_uz>;
using Float8E5M2 = SmallFloat<5, 2, 15, SmallFloatKind::ieee>;
using Float8E5M2FNUZ = SmallFloat<5, 2, 16, SmallFloatKind::finite_uz>;
using Float4E2M1 = SmallFloat<2, 1, 1, SmallFloatKind::no_specials>;

/// A power of two, 2^(bits - 127), or NaN (255): the scale type of the OCP microscaling formats.
struct Float8E8M0 {
  std::uint8_t bits = 0;
  constexpr Float8E8M0() = default;
  Float8E8M0(float value);
  operator float() const {
    return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
  }
};

/// An integer of `N` bits, stored one element a byte; packed only in files.
template <int N, bool Signed>
struct SmallInt {
  std::conditional_t<Signed, std::int8_t, std::uint8_t> value = 0;
  constexpr SmallInt() = default;
  /// Keeps the low N bits, as C++ conversions between integers do.
  constexpr SmallInt(int v) {
    const unsigned low = unsigned(v) & ((1u << N) - 1u);
    if constexpr (Signed) {
      value = std::int8_t(low >= (1u << (N - 1)) ? int(low) - (1 << N) : int(low));
    } else {
      value = std::uint8_t(low);
    }
  }
  constexpr operator int() const { return value; }
};

using Int4 = SmallInt<4, true>;
using UInt4 = SmallInt<4, false>;
using Int2 = SmallInt<2, true>;
using UInt2 = SmallInt<2, false>;

}  // namespace d5
