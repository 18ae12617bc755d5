// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/nudge.hpp"

#include "level1_network/graph/parameter_layout.hpp"

namespace d5 {

double ulp_of_one(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-52;
    case DType::float32:
      return 0x1p-23;
    case DType::float16:
      return 0x1p-10;
    case DType::bfloat16:
      return 0x1p-7;
    default:
      return 0;
  }
}

Tensor nudged(const Tensor& tensor, RandomStream& random) {
  if (!may_be_trained(tensor.dtype())) return tensor;
  Tensor result = tensor.copy(Device{});
  dispatch(FloatTypes{}, tensor.dtype(), "nudged", [&]<class T>() {
    using A = Arithmetic<T>;
    const A unit = static_cast<A>(ulp_of_one(tensor.dtype()));
    for (T& value : result.span<T>()) {
      const auto drawn = random.bits() % 24;
      if (drawn > 1) continue;
      const A old = static_cast<A>(value);
      value = T(drawn == 0 ? old + unit * old : old - unit * old);
    }
  });
  return result;
}

ValueMap nudged(const ValueMap& values, RandomStream& random) {
  ValueMap result;
  for (const auto& [name, value] : values) {
    result[name] = value.is_tensor() ? Value(nudged(value.tensor(), random)) : value;
  }
  return result;
}

NudgedParameters::NudgedParameters(Network network, RandomStream& random)
    : network_(std::move(network)) {
  for (Parameter& parameter : network_.parameters()) {
    values_.push_back(parameter.value.copy());
    parameter.value.copy_from(nudged(parameter.value, random));
  }
}

NudgedParameters::~NudgedParameters() {
  auto value = values_.begin();
  for (Parameter& parameter : network_.parameters()) parameter.value.copy_from(*value++);
}

}  // namespace d5
