// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::conformance {

enum class Outcome { failed, unsupported, passed };  ///< from worst to best

struct Result {
  Outcome outcome = Outcome::failed;
  std::string reason;  ///< one line; empty where a case simply passed
};

/// Runs the test folder `path` on `framework` alone, and compares with the expected outputs within
/// the tolerance that the case states. Never throws.
[[nodiscard]] Result run_case(const std::string& path, const std::string& framework);

/// "passed", "unsupported: operator X", "failed: output y[3]: got 1, expected 2".
[[nodiscard]] std::string to_string(const Result& result);
[[nodiscard]] Result parse_result(const std::string& text);

}  // namespace d5::conformance
