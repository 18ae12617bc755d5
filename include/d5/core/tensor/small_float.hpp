// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace d5 {

/// Special values of a small float format.
enum class SmallFloatKind {
  ieee,         ///< infinities and NaNs, as IEEE 754
  finite,       ///< "FN": no infinity; NaN is all ones (float8e4m3fn)
  finite_uz,    ///< "FNUZ": no infinity, no negative zero; NaN is the code of negative zero
  no_specials,  ///< neither infinity nor NaN (float4e2m1, float6)
};

/// Conversion of a number above the largest finite one.
enum class Overflow { saturate, to_infinity };

/// A float with `E` exponent and `M` mantissa bits. Stored as bits, computed as float.
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
  /// Rounds to nearest even; a number above the range becomes infinity, or NaN if the format has no
  /// infinity.
  SmallFloat(float value) : bits(encode(value, Overflow::to_infinity)) {}
  SmallFloat(double value, Overflow overflow) : bits(encode(value, overflow)) {}
  static constexpr SmallFloat from_bits(Bits bits) {
    SmallFloat result;
    result.bits = bits;
    return result;
  }

  operator float() const { return decode(bits); }

  // Both conversions work on bits and add the sign last: random signs would defeat branch
  // prediction.
  static float decode(Bits bits) {
    if constexpr (E == 8 && M == 7) {
      return std::bit_cast<float>(std::uint32_t{bits} << 16);
    } else {
      const std::uint32_t magnitude = bits & kMagnitude;
      const std::uint32_t sign = std::uint32_t(bits & kSign) << (31 - (E + M));
      if (is_special(bits)) [[unlikely]] {
        constexpr auto kInfinity =
            std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
        const bool infinite = Kind == SmallFloatKind::ieee && magnitude == kExponentMask;
        return infinite ? std::bit_cast<float>(kInfinity | sign)
                        : std::numeric_limits<float>::quiet_NaN();
      }
      // A normal number keeps its mantissa and gets float's bias; below, the code counts steps of
      // 2^(1 - Bias - M).
      constexpr float kStep = std::bit_cast<float>((1 - Bias - M + 127) << 23);
      const std::uint32_t value = magnitude >> M != 0
                                      ? (magnitude << (23 - M)) + (std::uint32_t(127 - Bias) << 23)
                                      : std::bit_cast<std::uint32_t>(float(magnitude) * kStep);
      return std::bit_cast<float>(value | sign);
    }
  }

  /// Infinity or NaN.
  static constexpr bool is_special(Bits bits) {
    if constexpr (Kind == SmallFloatKind::ieee) return (bits & kMagnitude) >= kExponentMask;
    if constexpr (Kind == SmallFloatKind::finite) return (bits & kMagnitude) == kNan;
    if constexpr (Kind == SmallFloatKind::finite_uz) return bits == kNan;
    return false;
  }

  /// `F` is float or double; either is rounded once, to nearest, ties to even.
  template <class F>
  static Bits encode(F value, Overflow overflow) {
    using Wide = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
    constexpr int kMantissa = std::numeric_limits<F>::digits - 1;
    constexpr int kBias = std::numeric_limits<F>::max_exponent - 1;
    constexpr int kShift = kMantissa - M;
    constexpr int kSignPlace = int(8 * sizeof(F)) - 1;
    const Wide all = std::bit_cast<Wide>(value);
    const Wide magnitude = all & ~(Wide(1) << kSignPlace);
    const Bits sign = Bits((all >> kSignPlace) << (E + M));
    if (std::isnan(value)) [[unlikely]] {
      if constexpr (Kind == SmallFloatKind::no_specials) return kLargest;
      return Kind == SmallFloatKind::finite_uz ? kNan : Bits(sign | kNan);
    }
    Wide code;
    if (magnitude >= Wide(kBias + 1 - Bias) << kMantissa || kBias == Bias) {
      // Narrows the bits: truncate, round, change the exponent's bias. A carry out of the mantissa
      // increments the exponent by itself. With equal biases this also holds for subnormal numbers.
      const Wide ties_to_even = ((Wide(1) << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1);
      code = ((magnitude + ties_to_even) >> kShift) - (Wide(kBias - Bias) << M);
    } else {
      // Below the smallest normal number the code counts steps of 2^(1 - Bias - M).
      constexpr int kSteps = kBias == Bias ? 0 : Bias - 1 + M;
      constexpr F kStepsPerOne = std::bit_cast<F>(Wide(kBias + kSteps) << kMantissa);
      code = Wide(std::nearbyint(std::bit_cast<F>(magnitude) * kStepsPerOne));
    }
    if (code > kLargest) [[unlikely]] {
      if (overflow == Overflow::saturate || Kind == SmallFloatKind::no_specials) {
        return Bits(sign | kLargest);
      }
      if constexpr (Kind == SmallFloatKind::ieee) return Bits(sign | kExponentMask);
      return Kind == SmallFloatKind::finite_uz ? kNan : Bits(sign | kNan);
    }
    if (code == 0 && Kind == SmallFloatKind::finite_uz) return 0;
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
using Float6E2M3 = SmallFloat<2, 3, 1, SmallFloatKind::no_specials>;
using Float6E3M2 = SmallFloat<3, 2, 3, SmallFloatKind::no_specials>;

/// A power of two, 2^(bits - 127), or NaN (255): the scale type of the OCP microscaling formats.
struct Float8E8M0 {
  std::uint8_t bits = 0;
  constexpr Float8E8M0() = default;
  Float8E8M0(float value);
  operator float() const {
    return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
  }
};

/// An integer of `N` bits. One element per byte in memory, packed in files.
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
