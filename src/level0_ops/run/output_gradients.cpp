// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/run/output_gradients.hpp"

#include "d5/core/tensor/random.hpp"

namespace d5::detail {

std::vector<Tensor> output_gradients(const OperatorRunner& runner, const OperatorCase& one) {
  RandomStream random(one.seed, stream_of("gradients of outputs"));
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < runner.output_count(); ++i) {
    Tensor gradient;
    const Value& output = runner.output(i);
    if (output.is_tensor() && is_floating_point(output.tensor().dtype())) {
      gradient = Tensor::empty(output.tensor().dtype(), output.tensor().shape());
      dispatch(FloatTypes{}, gradient.dtype(), "gradient of " + one.line, [&]<class T>() {
        for (T& value : gradient.span<T>()) value = static_cast<T>(random.normal());
      });
    }
    if (gradient.defined()) gradient = gradient.copy(output.tensor().device());
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

}  // namespace d5::detail
