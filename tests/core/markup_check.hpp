// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace d5::testing {

/// The first fault of a document's tags: one that is not closed, that closes another, or that has
/// an unterminated quote. Empty if there is none.
inline std::string breach_of_markup(const std::string& text) {
  const std::vector<std::string> alone = {"meta", "br", "!doctype"};
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    std::size_t end = at + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a '<' within the tag at " + text.substr(at, 60);
    }
    if (end >= text.size()) return "the tag does not end at " + text.substr(at, 60);
    const bool closes = text[at + 1] == '/', empty = text[end - 1] == '/';
    const std::size_t begin = at + (closes ? 2 : 1);
    const std::string name = text.substr(begin, text.find_first_of(" />\n", begin) - begin);
    at = end;
    if (empty || std::ranges::find(alone, name) != alone.end()) continue;
    if (!closes) {
      open.push_back(name);
      if (name == "script" || name == "style") at = text.find("</" + name, at);
      continue;
    }
    if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
    open.pop_back();
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace d5::testing
