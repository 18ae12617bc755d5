// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace d5 {

/// Integers that determine a shape, in one of three states: omitted, given but known only at run
/// time, or known. An empty list is known, not omitted.
class IntegersInput {
 public:
  IntegersInput() = default;  ///< omitted
  IntegersInput(std::vector<std::int64_t> values) : given_(true), values_(std::move(values)) {}
  [[nodiscard]] static IntegersInput untold() {
    IntegersInput result;
    result.given_ = true;
    return result;
  }

  [[nodiscard]] bool given() const { return given_; }
  /// Given, but the values are known only at run time: `infer` returns `unknown_shape`.
  [[nodiscard]] bool is_untold() const { return given_ && !values_; }
  /// Throws: ContractError unless they are known.
  [[nodiscard]] const std::vector<std::int64_t>& values() const;

 private:
  bool given_ = false;
  std::optional<std::vector<std::int64_t>> values_;
};

}  // namespace d5
