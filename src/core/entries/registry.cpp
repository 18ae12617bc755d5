// SPDX-License-Identifier: Apache-2.0
#include "d5/core/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace d5 {
namespace {

/// Levenshtein's distance; letters that differ in case alone are equal.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool same = std::tolower((unsigned char)a[i]) == std::tolower((unsigned char)b[j]);
      const std::size_t next = std::min({row[j + 1] + 1, row[j] + 1, diagonal + (same ? 0 : 1)});
      diagonal = std::exchange(row[j + 1], next);
    }
  }
  return row.back();
}

/// A file's may hold anything.
std::vector<std::string> printable_names(std::vector<std::string> names) {
  for (std::string& name : names) name = printable(name);
  return names;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  const std::size_t most = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& candidate : candidates) {
    const std::size_t d = distance(name.substr(0, 100), candidate);
    if (d <= most) near.emplace_back(d, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> result;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) result.push_back(near[i].second);
  return result;
}

void throw_unknown_name(std::string_view kind, std::string_view name,
                        const std::vector<std::string>& known) {
  const auto near = printable_names(nearest_names(name, known));
  std::string hint = near.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(near, " or "));
  if (known.empty()) {
    hint += "none is known";
  } else if (known.size() <= 40) {
    hint += fmt::format("known: {}", fmt::join(printable_names(known), ", "));
  } else {
    hint += fmt::format("{} are known", known.size());
  }
  throw NotFound(fmt::format("{} '{}' is unknown; {}", kind, printable(name), hint));
}

void throw_duplicate_name(std::string_view kind, std::string_view name) {
  throw ValueError(
      fmt::format("{} '{}' is there already; choose another name", kind, printable(name)));
}

}  // namespace d5
