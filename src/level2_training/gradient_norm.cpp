// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/gradient_norm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "d5/core/threads.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 14;

template <class T>
double sum_of_squares(const T* values, std::int64_t count) {
  // Several sums, so that neither their latency nor one's rounding is in the way.
  constexpr int kSums = 16;
  double sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int s = 0; s < kSums; ++s) {
      const double value = double(values[i + s]);
      sums[s] += value * value;
    }
  }
  double total = 0;
  for (; i < count; ++i) total += double(values[i]) * double(values[i]);
  for (const double sum : sums) total += sum;
  return total;
}

double sum_of_squares(const Tensor& tensor) {
  const std::int64_t blocks = (tensor.elements() + kBlock - 1) / kBlock;
  if (blocks == 0) return 0;
  std::vector<double> sums(std::size_t(blocks), 0.0);
  dispatch(FloatTypes{}, tensor.dtype(), "norm", [&]<class T>() {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    parallel_for(blocks, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        const T* values = tensor.data<T>() + b * kBlock;
        const std::int64_t count = std::min(kBlock, tensor.elements() - b * kBlock);
        if constexpr (std::is_same_v<T, Wide>) {
          sums[std::size_t(b)] = sum_of_squares(values, count);
        } else {
          double sum = 0;
          for (std::int64_t i = 0; i < count; ++i)
            sum += double(float(values[i])) * float(values[i]);
          sums[std::size_t(b)] = sum;
        }
      }
    });
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

double norm_of(const Tensor& tensor) { return std::sqrt(sum_of_squares(tensor.on_host())); }

double gradient_norm(Network& network) {
  double total = 0;
  for (const Parameter& parameter : network.parameters()) {
    total += sum_of_squares(parameter.gradient.on_host());
  }
  return std::sqrt(total);
}

}  // namespace d5
