// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <concepts>

#include "d5/core/errors/error.hpp"

// 28 types have 784 pairs. Each type is converted to one of four wide types that represent all its
// values, and from them, piece by piece.
namespace d5::detail {
namespace {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
inline constexpr bool is_small_integer = is_one_of<T, SubByteIntegers>;
template <class T>
inline constexpr bool is_float8 = is_one_of<T, Float8Types>;

template <class T>
using Wide = std::conditional_t<
    is_complex<T>, std::complex<double>,
    std::conditional_t<
        std::is_same_v<T, std::uint64_t>, std::uint64_t,
        std::conditional_t<std::integral<T> || is_small_integer<T>, std::int64_t, double>>>;

/// Numbers out of range are undefined in ONNX; here they become the smallest number, and so does
/// NaN.
std::int64_t to_integer(double value) {
  if (value >= 0x1p63 && value < 0x1p64) return std::int64_t(std::uint64_t(value));
  if (!(value >= -0x1p63 && value < 0x1p63)) return std::numeric_limits<std::int64_t>::min();
  return std::int64_t(value);
}

Float8E8M0 to_power_of_two(double value, const ConversionRules& rules) {
  constexpr std::uint8_t kNan = 255, kLargest = 254;
  Float8E8M0 result;
  const bool saturates = rules.overflow == Overflow::saturate;
  if (std::isnan(value) || value < 0) {
    result.bits = kNan;
  } else if (value < 0x1p-127) {
    result.bits = saturates ? 0 : kNan;
  } else if (std::isinf(value)) {
    result.bits = saturates ? kLargest : kNan;
  } else {
    int exponent;
    const double fraction = 2 * std::frexp(value, &exponent);  // in [1, 2)
    exponent -= 1;
    const bool up = rules.exponent_rounding == ExponentRounding::up        ? fraction > 1
                    : rules.exponent_rounding == ExponentRounding::nearest ? fraction >= 1.5
                                                                           : false;
    exponent += up;
    result.bits = exponent <= 127 ? std::uint8_t(exponent + 127) : saturates ? kLargest : kNan;
  }
  return result;
}

template <class T, class W>
T narrow(W value, const ConversionRules& rules) {
  if constexpr (is_complex<W>) {
    if constexpr (is_complex<T>) {
      return T(value);
    } else {
      return narrow<T>(value.real(), rules);
    }
  } else if constexpr (is_complex<T>) {
    return T(typename T::value_type(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::integral<T> || is_small_integer<T>) {
    if constexpr (std::is_same_v<W, double>) return narrow<T>(to_integer(value), rules);
    if constexpr (is_small_integer<T>) return T(int(value));
    return T(value);
  } else if constexpr (std::floating_point<T>) {
    return T(value);
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    return to_power_of_two(double(value), rules);
  } else if constexpr (is_one_of<T, SubByteFloats>) {
    // The type has no NaN; ONNX's test cases expect negative zero.
    if (value != value) return T::from_bits(T::kSign);
    return T(double(value), Overflow::saturate);
  } else {
    return T(double(value), is_float8<T> ? rules.overflow : Overflow::to_infinity);
  }
}

/// The shortest text that parses to the same number; a float has a point or an exponent.
template <class T>
std::string to_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::integral<T>) {
    return fmt::format("{}", value);
  } else if constexpr (is_small_integer<T>) {
    return fmt::format("{}", int(value));
  } else {
    std::string text = fmt::format("{}", Arithmetic<T>(value));
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }
}

double read_real(std::string_view text) {
  if (text == "True" || text == "False") return text == "True";  // as written by `to_text`
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(text).c_str(), nullptr);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw ValueError(fmt::format("Cast: '{}' is not a number", printable(text)));
  }
  return value;
}

template <class T>
T read_text(const std::string& text, const ConversionRules& rules) {
  if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
    T value;
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, value);
        read.ec == std::errc() && read.ptr == end) {
      return value;
    }
  }
  return narrow<T>(read_real(text), rules);
}

using Rules = ConversionRules;
using Write = void (*)(void* to, std::int64_t at, const void* wide, std::int64_t count,
                       const Rules& rules);

template <class W, class T>
void write_numbers(void* to, std::int64_t at, const void* wide, std::int64_t count,
                   const Rules& rules) {
  T* y = static_cast<T*>(to) + at;
  const W* x = static_cast<const W*>(wide);
  for (std::int64_t i = 0; i < count; ++i) y[i] = narrow<T>(x[i], rules);
}

template <class T>
void convert_numbers(void* to, const void* from, std::int64_t count, Write write,
                     const Rules& rules) {
  constexpr std::int64_t kPiece = 512;
  std::array<Wide<T>, kPiece> piece;
  for (std::int64_t at = 0; at < count; at += kPiece) {
    const T* x = static_cast<const T*>(from) + at;
    const std::int64_t length = std::min(kPiece, count - at);
    for (std::int64_t i = 0; i < length; ++i) {
      if constexpr (is_small_integer<T>) {
        piece[std::size_t(i)] = int(x[i]);
      } else {
        piece[std::size_t(i)] = Wide<T>(Arithmetic<T>(x[i]));
      }
    }
    write(to, at, piece.data(), length, rules);
  }
}

template <class T>
void write_texts(void* to, const void* from, std::int64_t count, Write, const Rules&) {
  std::string* y = static_cast<std::string*>(to);
  const T* x = static_cast<const T*>(from);
  for (std::int64_t i = 0; i < count; ++i) y[i] = to_text(x[i]);
}

template <class T>
void read_texts(void* to, const void* from, std::int64_t count, Write, const Rules& rules) {
  T* y = static_cast<T*>(to);
  const std::string* x = static_cast<const std::string*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      y[i] = x[i];
    } else {
      y[i] = read_text<T>(x[i], rules);
    }
  }
}

}  // namespace

Conversion::Conversion(DType from, DType to, ConversionRules rules) : rules_(rules) {
  if (from == DType::string) {
    dispatch(AllTypes{}, to, "Cast", [&]<class T>() { convert_ = read_texts<T>; });
    return;
  }
  dispatch(PlainTypes{}, from, "Cast", [&]<class T>() {
    if (to != DType::string) {
      convert_ = convert_numbers<T>;
      dispatch(PlainTypes{}, to, "Cast", [&]<class U>() { write_ = write_numbers<Wide<T>, U>; });
    } else if constexpr (is_complex<T>) {
      throw Unsupported("Cast: complex numbers have no text in ONNX; split them into parts first");
    } else {
      convert_ = write_texts<T>;
    }
  });
}

}  // namespace d5::detail
