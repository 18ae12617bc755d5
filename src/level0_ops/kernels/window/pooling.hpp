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

/// What a pooling kernel walks. A plane is one channel of one sample.
struct PooledPlanes {
  Window window;           ///< slides over each plane
  std::int64_t count = 0;  ///< 0 where there is nothing to do

  /// `f(plane)` for every plane, on `threads()` threads; a thread gets at least `grain` elements
  /// under windows.
  template <std::int64_t grain = 16384, class F>
  void for_each(F&& f) const {
    parallel_for_each(count, window.output_size() * window.kernel_size(), grain, f);
  }
};

/// The part of pooling that does not depend on how the elements under a window become one.
///
/// Shapes: x is N x C x spatial (one to three), y is N x C x output.
class Pooling : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override;
  Places gradients() const final { return {0}; }
  Cost cost(const InferContext& context) const final;

 protected:
  Pooling() = default;  ///< global: the window is all of a plane
  explicit Pooling(WindowAttributes attributes) : attributes_(std::move(attributes)) {}

  [[nodiscard]] bool is_global() const { return !attributes_; }
  [[nodiscard]] PooledPlanes planes(const PlanContext& context) const;
  /// Operations for each element under a window, padding too.
  [[nodiscard]] virtual double flop_per_tap() const { return 1; }

 private:
  [[nodiscard]] Window resolve(const InferContext& context) const;

  std::optional<WindowAttributes> attributes_;
};

}  // namespace d5::detail
