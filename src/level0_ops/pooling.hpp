// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "d5/level0_ops/operator.hpp"
#include "level0_ops/parallel_each.hpp"
#include "level0_ops/window.hpp"

namespace d5::detail {

/// The part of pooling that does not depend on how the elements under a window become one: the
/// window, and the planes over which it slides. A plane is one channel of one sample.
///
/// Shapes: x is N x C x spatial (one to three), y is N x C x output.
class Pooling : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override;
  void plan(PlanContext& context) override;
  bool differentiable(std::size_t) const override { return true; }
  /// One operation an element under a window.
  Cost cost(const InferContext& context) const override;

 protected:
  Pooling() = default;  ///< global: the window is all of a plane
  explicit Pooling(WindowAttributes attributes) : attributes_(std::move(attributes)) {}

  [[nodiscard]] bool is_global() const { return !attributes_; }

  /// `f(plane)` for every plane, on `threads()` threads; a thread gets at least `grain` elements
  /// under windows.
  template <std::int64_t grain = 16384, class F>
  void for_each_plane(F&& f) const {
    parallel_for_each(planes_, window_.output_size() * window_.kernel_size(), grain, f);
  }

  Window window_;  ///< of the plan

 private:
  [[nodiscard]] Window resolve(const InferContext& context) const;

  std::optional<WindowAttributes> attributes_;
  std::int64_t planes_ = 0;  // of the plan
};

}  // namespace d5::detail
