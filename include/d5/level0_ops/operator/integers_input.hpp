// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace d5 {

/// Integers that decide a shape, as an operator finds them: left out, given but told only by
/// running, or known. Each is asked for by its name, so that none is taken for another: an empty
/// list is known, and is not one that was left out.
class IntegersInput {
 public:
  IntegersInput() = default;  ///< left out
  IntegersInput(std::vector<std::int64_t> values) : given_(true), values_(std::move(values)) {}
  [[nodiscard]] static IntegersInput untold() {
    IntegersInput result;
    result.given_ = true;
    return result;
  }

  [[nodiscard]] bool given() const { return given_; }
  /// Given, but only running tells the values: `infer` answers `unknown_shape`.
  [[nodiscard]] bool is_untold() const { return given_ && !values_; }
  /// Throws: ContractError unless they are known.
  [[nodiscard]] const std::vector<std::int64_t>& values() const;

 private:
  bool given_ = false;
  std::optional<std::vector<std::int64_t>> values_;
};

}  // namespace d5
