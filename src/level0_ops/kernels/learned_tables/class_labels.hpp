// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Labels of a classifier's classes: integers or texts.
class ClassLabels {
 public:
  /// An empty list counts as absent. Throws: ValueError unless exactly one is present.
  ClassLabels(std::optional<std::vector<std::int64_t>> integers,
              std::optional<std::vector<std::string>> texts, std::string_view who);

  [[nodiscard]] std::size_t size() const { return integers_.size() + texts_.size(); }
  [[nodiscard]] DType dtype() const { return texts_.empty() ? DType::int64 : DType::string; }
  /// Writes label `place` to element `i` of `y`.
  void write(std::size_t place, Tensor& y, std::int64_t i) const;

  [[nodiscard]] const std::vector<std::int64_t>& integers() const { return integers_; }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::int64_t> integers_;  // or
  std::vector<std::string> texts_;
};

}  // namespace d5::detail
