// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "d5/core/tensor/dtype.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// A parameter as a rule on whole tensors sees it. T is float or double; for a 16-bit parameter
/// `value` is the master.
template <class T>
struct TensorUpdate {
  static constexpr std::size_t kMostSlots = 6;
  const Shape& shape;
  std::span<const T> gradient = {};
  std::span<T> value = {};
  std::array<std::span<T>, kMostSlots> slots = {};
  std::span<T> scratch = {};  ///< as long as the value, for any use by the rule

  [[nodiscard]] std::int64_t elements() const { return std::int64_t(value.size()); }
};

/// Presents parameters to a rule, one after another; owns the buffers.
class TensorUpdater {
 public:
  /// Calls `rule(TensorUpdate<T>)`. `master` is null unless the parameter has 16 bits. A value that
  /// is not its rounded master was set elsewhere, and replaces the master.
  template <class Rule>
  void update(const Tensor& gradient, Parameter& parameter, std::span<Tensor* const> slots,
              float* master, const Rule& rule) {
    const std::size_t count = std::size_t(gradient.elements());
    dispatch(FloatTypes{}, gradient.dtype(), "an optimizer's parameter", [&]<class T>() {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      TensorUpdate<Wide> update{.shape = parameter.value.shape(), .scratch = scratch<Wide>(count)};
      for (std::size_t s = 0; s < slots.size(); ++s) update.slots[s] = slots[s]->span<Wide>();
      if constexpr (std::is_same_v<T, Wide>) {
        update.gradient = gradient.span<T>();
        update.value = parameter.value.span<T>();
        rule(update);
      } else {
        gradient_.assign(gradient.span<T>().begin(), gradient.span<T>().end());
        update.gradient = gradient_;
        update.value = {master, count};
        const auto value = parameter.value.span<T>();
        for (std::size_t i = 0; i < count; ++i) {
          if (float(T(master[i])) != float(value[i])) master[i] = float(value[i]);
        }
        rule(update);
        for (std::size_t i = 0; i < count; ++i) value[i] = T(master[i]);
      }
    });
  }

 private:
  template <class T>
  std::span<T> scratch(std::size_t count) {
    auto& memory = [&]() -> auto& {
      if constexpr (std::is_same_v<T, double>)
        return doubles_;
      else
        return singles_;
    }();
    if (memory.size() < count) memory.resize(count);
    return std::span<T>(memory).first(count);
  }

  std::vector<float> gradient_, singles_;
  std::vector<double> doubles_;
};

}  // namespace d5
