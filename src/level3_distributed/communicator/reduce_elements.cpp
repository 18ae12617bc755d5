// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/reduce_elements.hpp"

#include <algorithm>
#include <type_traits>

#include "d5/level3_distributed/communicator/transport.hpp"

namespace d5::detail {
namespace {

using ReducedTypes = Join<FloatTypes, IntegerTypes>;

template <class T>
constexpr bool kIsSmallFloat = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The type in which elements of type T are combined.
template <class T>
using Combined = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <class T, class Combine>
void combine(T* into, const T* other, std::int64_t count, const Combine& with) {
  for (std::int64_t i = 0; i < count; ++i) {
    into[i] = T(with(Combined<T>(into[i]), Combined<T>(other[i])));
  }
}

}  // namespace

void reduce_elements(DType dtype, void* into, const void* other, std::int64_t count,
                     Reduction reduction) {
  dispatch(ReducedTypes{}, dtype, "a reduction over ranks", [&]<class T>() {
    using C = Combined<T>;
    auto* a = static_cast<T*>(into);
    const auto* b = static_cast<const T*>(other);
    switch (reduction) {
      case Reduction::sum:
        return combine(a, b, count, [](C x, C y) { return C(x + y); });
      case Reduction::maximum:
        return combine(a, b, count, [](C x, C y) { return std::max(x, y); });
      case Reduction::minimum:
        return combine(a, b, count, [](C x, C y) { return std::min(x, y); });
    }
  });
}

void reduce_elements(Tensor& into, const Tensor& other, Reduction reduction) {
  if (into.dtype() != other.dtype()) {
    throw TypeError("a reduction over ranks: the element types differ");
  }
  if (into.elements() != other.elements()) {
    throw ShapeError("a reduction over ranks: the numbers of elements differ");
  }
  reduce_elements(into.dtype(), into.raw(), other.raw(), into.elements(), reduction);
}

}  // namespace d5::detail

void d5::reduce_memory(DType dtype, void* into, const void* other, std::int64_t count,
                       Reduction reduction) {
  detail::reduce_elements(dtype, into, other, count, reduction);
}
