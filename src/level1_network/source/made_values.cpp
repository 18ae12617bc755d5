// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/made_values.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

namespace d5 {
namespace {

template <class T>
T drawn(RandomStream& random, const std::optional<ValueRange>& range, const InputDrawing& drawing) {
  if constexpr (std::is_same_v<T, bool>) {
    return drawing.masks_of_ones || random.below(2) == 1;
  } else {
    if (!range && !std::is_integral_v<T>) {
      if (drawing.most == 0) return static_cast<T>(random.normal());
      const double share = random.uniform_double();
      return static_cast<T>(Arithmetic<T>(drawing.least + (drawing.most - drawing.least) * share));
    }
    if (drawing.masks_of_ones && (!range || *range == ValueRange{0, 1})) return static_cast<T>(1);
    const auto [least, most] = range.value_or(ValueRange());
    const auto offset = std::int64_t(random.below(std::uint64_t(most - least) + 1));
    return static_cast<T>(least + offset);
  }
}

}  // namespace

Tensor made_value(const std::string& name, const TensorDesc& desc,
                  const std::optional<ValueRange>& range, std::uint64_t seed,
                  const InputDrawing& drawing) {
  Tensor tensor = Tensor::empty(desc.dtype, desc.shape);
  RandomStream random(seed, stream_of(name));
  using Drawn = Join<NumberTypes, Types<bool>>;
  dispatch(Drawn{}, desc.dtype, "random values for input '" + printable(name) + "'",
           [&]<class T>() {
             for (T& value : tensor.span<T>()) value = drawn<T>(random, range, drawing);
           });
  return tensor;
}

}  // namespace d5
