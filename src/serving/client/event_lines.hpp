// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace d5::detail {

/// Splits a stream into server-sent events. Source: WHATWG HTML, "Server-sent events".
class EventLines {
 public:
  using Hear = std::function<void(const std::string& id, const std::string& data)>;
  /// Takes the next piece, cut anywhere; calls `hear` with each complete event. Throws: FormatError
  /// for an event of more than 16 MiB.
  void add(std::string_view piece, const Hear& hear);

 private:
  void line(std::string_view text, const Hear& hear);
  std::string rest_, id_, data_;
};

}  // namespace d5::detail
