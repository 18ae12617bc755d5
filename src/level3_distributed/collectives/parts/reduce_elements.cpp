// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/reduce_elements.hpp"

#include <algorithm>
#include <functional>

namespace d5::detail {

void reduce_elements(Tensor& accumulated, const Tensor& other, Reduction reduction) {
  const Types<float, double, std::int32_t, std::int64_t> types;
  dispatch(types, accumulated.dtype(), "all_reduce", [&]<class T>() {
    const auto a = accumulated.span<T>();
    const auto b = other.span<T>();
    const auto apply = [&](auto combine) {
      std::transform(a.begin(), a.end(), b.begin(), a.begin(), combine);
    };
    switch (reduction) {
      case Reduction::sum:
        return apply(std::plus<T>{});
      case Reduction::maximum:
        return apply([](T x, T y) { return std::max(x, y); });
      case Reduction::minimum:
        return apply([](T x, T y) { return std::min(x, y); });
    }
  });
}

}  // namespace d5::detail
