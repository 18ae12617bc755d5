// SPDX-License-Identifier: Apache-2.0
#include "serving/client/event_lines.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void EventLines::line(std::string_view text, const Hear& hear) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) {
    if (!data_.empty()) {
      data_.pop_back();  // the last line's end
      hear(id_, data_);
    }
    data_.clear();
    return;
  }
  const std::size_t colon = text.find(':');
  if (colon == 0) return;  // a comment
  const std::string_view field = text.substr(0, colon);
  std::string_view value = colon == text.npos ? "" : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") id_ = value;
  if (field == "data") data_ += std::string(value) + "\n";
}

void EventLines::add(std::string_view piece, const Hear& hear) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  std::size_t begin = 0;
  const std::size_t known = rest_.size();  // without a line's end
  rest_ += piece;
  for (std::size_t end = rest_.find('\n', known); end != rest_.npos;
       end = rest_.find('\n', begin)) {
    line(std::string_view(rest_).substr(begin, end - begin), hear);
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() + data_.size() > kMostBytes) {
    throw FormatError(fmt::format("an event has more than {} bytes", kMostBytes));
  }
}

}  // namespace d5::detail
