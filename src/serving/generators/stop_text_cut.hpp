// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// Cuts an answer off before its first stop text. Letters that may begin one are held back until
/// it is clear that they do not.
class StopTextCut {
 public:
  explicit StopTextCut(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// What `text` adds to the answer for certain.
  [[nodiscard]] std::string next(std::string_view text);
  /// What is still held back, once nothing follows.
  [[nodiscard]] std::string rest();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool is_over_ = false;  ///< a stop text was met
};

}  // namespace d5::detail
