// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/case/case_data.hpp"

#include <cmath>

namespace d5::detail {
namespace {

template <class T>
T draw(const Distribution& d, RandomStream& random) {
  const auto uniform = [&] { return random.uniform_double(); };
  if constexpr (std::is_same_v<T, bool>) {
    return uniform() < 0.5;
  } else if (d.most_whole) {
    const auto most = double(*d.most_whole);
    const double least = std::is_unsigned_v<T> ? 0 : -most;
    return T(Arithmetic<T>(least + std::floor(uniform() * (most - least + 1))));
  } else if constexpr (std::is_integral_v<T>) {
    return T(uniform() * d.bound.value_or(10));
  } else {
    return T(Arithmetic<T>(d.bound ? uniform() * *d.bound : d.scale * random.normal_double()));
  }
}

}  // namespace

void fill(Tensor& tensor, const Distribution& distribution, RandomStream& random) {
  dispatch(Join<NumberTypes, Types<bool>>{}, tensor.dtype(), "case: random numbers",
           [&]<class T>() {
             for (T& element : tensor.span<T>()) element = draw<T>(distribution, random);
           });
}

double usual_scale(const onnx::Node& node, std::size_t input, const Shape& shape) {
  const bool recurrent = node.domain.empty() &&
                         (node.op_type == "RNN" || node.op_type == "GRU" || node.op_type == "LSTM");
  const bool weights = input == 1 || input == 2;  // W and R
  if (!recurrent || !weights || shape.rank() != 3 || shape[2] == 0) return 1;
  return 1 / std::sqrt(3.0 * double(shape[2]));
}

}  // namespace d5::detail
