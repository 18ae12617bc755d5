// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/stop_text_cut.hpp"

#include <algorithm>
#include <utility>

namespace d5::detail {
namespace {

/// Length of the longest end of `text` with which `stop` begins.
std::size_t begun(std::string_view text, std::string_view stop) {
  for (std::size_t length = std::min(text.size(), stop.size()); length > 0; --length) {
    if (text.ends_with(stop.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::string StopTextCut::next(std::string_view text) {
  if (is_over_) return {};
  held_ += text;
  std::size_t met = held_.size(), kept_back = 0;
  for (const std::string& stop : stops_) {
    met = std::min(met, held_.find(stop));
    kept_back = std::max(kept_back, begun(held_, stop));
  }
  is_over_ = met < held_.size();
  const std::size_t length = is_over_ ? met : held_.size() - kept_back;
  std::string sure = held_.substr(0, length);
  held_.erase(0, length);
  if (is_over_) held_.clear();
  return sure;
}

std::string StopTextCut::rest() { return std::exchange(held_, {}); }

}  // namespace d5::detail
