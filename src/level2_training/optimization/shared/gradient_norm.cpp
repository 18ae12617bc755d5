// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/gradient_norm.hpp"

#include <array>
#include <cmath>
#include <ranges>

#include "level2_training/optimization/shared/block_sums.hpp"

namespace d5 {

double sum_of_squares(const Tensor& tensor) {
  const Tensor here = tensor.on_host();
  double sum = 0;
  dispatch(FloatTypes{}, here.dtype(), "norm", [&]<class T>() {
    const T* values = here.data<T>();
    sum = detail::block_sums<1>(here.elements(), [&](std::int64_t begin, std::int64_t end) {
      return std::array{detail::sum_of_squares(values + begin, end - begin)};
    })[0];
  });
  return sum;
}

double norm_of(const Tensor& tensor) { return std::sqrt(sum_of_squares(tensor)); }

double gradient_norm(Network& network) {
  double total = 0;
  // Backwards: updates, which run forwards, then find the first gradients in the cache.
  for (const Parameter& parameter : std::views::reverse(network.parameters())) {
    total += sum_of_squares(parameter.gradient);
  }
  return std::sqrt(total);
}

}  // namespace d5
