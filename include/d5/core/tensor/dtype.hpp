// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/small_float.hpp"

namespace d5 {

/// The element types of ONNX, with ONNX's own numbers (TensorProto.DataType).
enum class DType : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

inline constexpr int kDTypeCount = 29;

/// Size of an element in memory, in bytes. Sub-byte types take one byte, strings
/// sizeof(std::string).
[[nodiscard]] std::size_t size_of(DType dtype);
/// Size of an element in ONNX and in files, in bits: 2 for int2, 6 for float6e2m3, 8 * `size_of`
/// for types of whole bytes.
[[nodiscard]] int bits_of(DType dtype);
/// "float32", "bfloat16", ... as in ONNX, in lower case ("bool" for booleans).
[[nodiscard]] std::string_view name_of(DType dtype);
/// The inverse of `name_of`. Throws: NotFound, with the nearest name.
[[nodiscard]] DType dtype_from_name(std::string_view name);
[[nodiscard]] bool is_floating_point(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);

template <class T>
inline constexpr DType dtype_of = DType::undefined;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_of<std::string> = DType::string;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<Float16> = DType::float16;
template <>
inline constexpr DType dtype_of<double> = DType::float64;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_of<std::complex<float>> = DType::complex64;
template <>
inline constexpr DType dtype_of<std::complex<double>> = DType::complex128;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<Float8E4M3FN> = DType::float8e4m3fn;
template <>
inline constexpr DType dtype_of<Float8E4M3FNUZ> = DType::float8e4m3fnuz;
template <>
inline constexpr DType dtype_of<Float8E5M2> = DType::float8e5m2;
template <>
inline constexpr DType dtype_of<Float8E5M2FNUZ> = DType::float8e5m2fnuz;
template <>
inline constexpr DType dtype_of<UInt4> = DType::uint4;
template <>
inline constexpr DType dtype_of<Int4> = DType::int4;
template <>
inline constexpr DType dtype_of<Float4E2M1> = DType::float4e2m1;
template <>
inline constexpr DType dtype_of<Float8E8M0> = DType::float8e8m0;
template <>
inline constexpr DType dtype_of<UInt2> = DType::uint2;
template <>
inline constexpr DType dtype_of<Int2> = DType::int2;
template <>
inline constexpr DType dtype_of<Float6E2M3> = DType::float6e2m3;
template <>
inline constexpr DType dtype_of<Float6E3M2> = DType::float6e3m2;

/// A list of C++ element types, for `dispatch`.
template <class... Ts>
struct Types {};

template <class A, class B>
struct JoinTypes;
template <class... As, class... Bs>
struct JoinTypes<Types<As...>, Types<Bs...>> {
  using type = Types<As..., Bs...>;
};
template <class A, class B>
using Join = typename JoinTypes<A, B>::type;

using RealTypes = Types<float, double>;
using FloatTypes = Types<float, double, Float16, BFloat16>;
using SignedTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedTypes = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using IntegerTypes = Join<SignedTypes, UnsignedTypes>;
using NumberTypes = Join<FloatTypes, IntegerTypes>;
using SubByteIntegers = Types<UInt4, Int4, UInt2, Int2>;
using SubByteFloats = Types<Float4E2M1, Float6E2M3, Float6E3M2>;
using SubByteTypes = Join<SubByteIntegers, SubByteFloats>;
using Float8Types = Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0>;
/// Every type but string.
using PlainTypes = Join<Join<Join<NumberTypes, Types<bool>>, Join<SubByteTypes, Float8Types>>,
                        Types<std::complex<float>, std::complex<double>>>;
using AllTypes = Join<PlainTypes, Types<std::string>>;

template <class T, class List>
inline constexpr bool is_one_of = false;
template <class T, class... Ts>
inline constexpr bool is_one_of<T, Types<Ts...>> = (std::is_same_v<T, Ts> || ...);

/// The type for arithmetic on T: float for small floats, T otherwise.
template <class T>
using Arithmetic = std::conditional_t<
    is_one_of<T, Join<Types<Float16, BFloat16>, Join<Float8Types, SubByteFloats>>>, float, T>;

[[noreturn]] void throw_type_not_supported(std::string_view who, DType dtype);

/// Calls `f.operator()<T>()` with the C++ type of `dtype`, which must be in the list. Throws:
/// TypeError, whose message begins with `who`.
///
///     dispatch(FloatTypes{}, x.dtype(), "Relu", [&]<class T>() { relu<T>(x, y); });
template <class... Ts, class F>
void dispatch(Types<Ts...>, DType dtype, std::string_view who, F&& f) {
  const bool found =
      ((dtype_of<Ts> == dtype ? (std::forward<F>(f).template operator()<Ts>(), true) : false) ||
       ...);
  if (!found) throw_type_not_supported(who, dtype);
}

}  // namespace d5
