// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level0_ops/operator/window.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {

/// Planes of a pooling kernel. A plane is one channel of one sample.
struct PooledPlanes {
  Window window;           ///< slides over each plane
  std::int64_t count = 0;  ///< 0: nothing to do

  /// Calls `f(plane)` for every plane, on `threads()` threads; a thread gets at least `grain`
  /// window elements.
  template <std::int64_t grain = 16384, class F>
  void for_each(F&& f) const {
    parallel_for_each(count, window.output_size() * window.kernel_size(), grain, f);
  }
};

/// Common base of pooling operators.
///
/// Shapes: x is N x C x spatial (one to three), y is N x C x output.
class Pooling : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override;
  Places gradients() const final { return {0}; }
  Cost cost(const InferContext& context) const final;

 protected:
  Pooling() = default;  ///< global: the window covers the whole plane
  explicit Pooling(WindowAttributes attributes) : attributes_(std::move(attributes)) {}

  [[nodiscard]] bool is_global() const { return !attributes_; }
  [[nodiscard]] PooledPlanes planes(const PlanContext& context) const;
  /// Operations per window element, including padding.
  [[nodiscard]] virtual double flop_per_tap() const { return 1; }

 private:
  [[nodiscard]] Window resolve(const InferContext& context) const;

  std::optional<WindowAttributes> attributes_;
};

}  // namespace d5::detail
