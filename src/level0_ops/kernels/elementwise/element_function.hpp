// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "d5/core/tensor/dtype.hpp"

// A function of one or two elements is a struct, constructible from its node's typed view or by
// default:
//
//     struct GreaterOrEqual {
//       using Types = NumberTypes;  // the element types that it takes; else FloatTypes
//       using Result = bool;        // the element type of its value; else that of its arguments
//       template <class T>
//       bool value(T a, T b) const {
//         return a >= b;
//       }
//     };
//
// Small floats are passed as float. Differentiable functions have slopes: see unary.hpp,
// binary.hpp.
namespace d5::detail {

/// Number of elements below which a thread costs more than it saves.
inline constexpr std::int64_t kElementGrain = 16384;

template <class F>
struct FunctionTypes {
  using List = FloatTypes;
};
template <class F>
  requires requires { typename F::Types; }
struct FunctionTypes<F> {
  using List = typename F::Types;
};

template <class F, class T>
struct FunctionResult {
  using Type = T;
};
template <class F, class T>
  requires requires { typename F::Result; }
struct FunctionResult<F, T> {
  using Type = typename F::Result;
};

/// The element type of the output for inputs of T.
template <class F, class T>
using ResultOf = typename FunctionResult<F, T>::Type;
template <class F>
inline constexpr DType kFixedResult = dtype_of<ResultOf<F, void>>;
/// The element type of the output for inputs of `dtype`.
template <class F>
[[nodiscard]] constexpr DType result_dtype(DType dtype) {
  return kFixedResult<F> == DType::undefined ? dtype : kFixedResult<F>;
}

template <class F, class View>
[[nodiscard]] F make_function([[maybe_unused]] const View& view) {
  if constexpr (std::constructible_from<F, const View&>) {
    return F(view);
  } else {
    return F();
  }
}

/// `x` converted to a function's argument type.
template <class T>
[[nodiscard]] decltype(auto) arithmetic(const T& x) {
  if constexpr (std::is_same_v<T, Arithmetic<T>>) {
    return (x);
  } else {
    return Arithmetic<T>(x);
  }
}

}  // namespace d5::detail
