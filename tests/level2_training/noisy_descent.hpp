// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "tests/level2_training/scripted_executor.hpp"

namespace d5::test {

template <class T>
Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  Tensor tensor = Tensor::empty(dtype_of<T>, shape);
  RandomStream random(seed);
  for (T& value : tensor.span<T>()) value = T(random.normal_double());
  return tensor;
}

/// Two parameters, "a" and "b"; the gradient is a slope that pulls them to zero, and noise.
template <class T>
std::unique_ptr<GraphExecutor> noisy_descent() {
  return std::make_unique<ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"a", random_tensor<T>({5, 7}, 1)},
                                                  {"b", random_tensor<T>({33}, 2)}},
      [](Network& network, std::int64_t step) {
        for (Parameter& parameter : network.parameters()) {
          RandomStream random(7, std::uint32_t(step), stream_of(parameter.name));
          for (std::int64_t i = 0; i < parameter.value.elements(); ++i) {
            parameter.gradient.data<T>()[i] =
                T(0.3) * parameter.value.data<T>()[i] + T(random.normal_double());
          }
        }
        return 0.0;
      });
}

}  // namespace d5::test
