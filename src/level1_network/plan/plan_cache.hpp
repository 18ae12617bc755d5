// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "level1_network/plan/plan.hpp"

namespace d5 {

/// The most recently used plans of one graph, one for each set of input shapes.
class PlanCache {
 public:
  /// The matching plan, moved to the front, or null.
  template <class Fits>
  [[nodiscard]] Plan* find(Fits&& fits) {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!fits(*plans_[i])) continue;
      for (; i > 0; --i) std::swap(plans_[i], plans_[i - 1]);
      return plans_.front().get();
    }
    return nullptr;
  }
  /// Removes and returns the plan that fits, or null.
  template <class Fits>
  [[nodiscard]] std::unique_ptr<Plan> take(Fits&& fits) {
    if (!find(fits)) return nullptr;
    auto plan = std::move(plans_.front());
    plans_.erase(plans_.begin());
    return plan;
  }
  Plan& add(std::unique_ptr<Plan> plan) {
    if (plans_.size() == kMost) plans_.pop_back();
    plans_.insert(plans_.begin(), std::move(plan));
    return *plans_.front();
  }
  void clear() { plans_.clear(); }
  /// Drops all plans except `kept`, which may be null.
  void drop_others(const Plan* kept) {
    std::erase_if(plans_, [&](const auto& plan) { return plan.get() != kept; });
  }

 private:
  static constexpr std::size_t kMost = 8;  // a plan holds memory for all its tensors
  std::vector<std::unique_ptr<Plan>> plans_;
};

}  // namespace d5
