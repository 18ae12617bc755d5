// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/varied.hpp"

#include <algorithm>

#include "d5/core/tensor/random.hpp"

namespace d5::detail {
namespace {

template <class T>
void vary(std::span<T> elements, Variation variation, RandomStream& random) {
  const bool is_turned = variation == Variation::turned;
  if constexpr (std::is_same_v<T, bool>) {
    if (is_turned) std::ranges::transform(elements, elements.begin(), std::logical_not<>());
  } else if constexpr (std::is_integral_v<T>) {
    if (!is_turned) return;
    for (T& element : elements) {
      if (element > 1) element = T(element - 1);  // keeps indices, lengths and sizes valid
    }
  } else {
    for (T& element : elements) {
      const double factor = 0.5 + random.uniform();
      const auto before = double(Arithmetic<T>(element));
      const double after = before == 0 ? 0.01 * factor : before * factor;
      element = T(Arithmetic<T>(is_turned ? -after : after));
    }
  }
}

}  // namespace

Tensor varied(const Tensor& tensor, Variation variation, std::uint64_t seed) {
  using Varied = Join<NumberTypes, Types<bool>>;
  Tensor result = tensor.copy(Device{});
  RandomStream random(seed, stream_of("varied"));
  const auto vary_if = [&]<class T>() {
    if (result.dtype() != dtype_of<T>) return;
    std::ranges::reverse(result.span<T>());
    vary<T>(result.span<T>(), variation, random);
  };
  [&]<class... T>(Types<T...>) { (vary_if.template operator()<T>(), ...); }(Varied{});
  return result;
}

}  // namespace d5::detail
