// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>

#include "core/entries/unknown_name.hpp"

namespace d5 {
namespace {

char lower(char letter) { return char(std::tolower((unsigned char)letter)); }

/// Levenshtein's distance; letters that differ in case alone are equal.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t differs = lower(a[i]) == lower(b[j]) ? 0 : 1;
      const std::size_t next = std::min({row[j + 1] + 1, row[j] + 1, diagonal + differs});
      diagonal = std::exchange(row[j + 1], next);
    }
  }
  return row.back();
}

/// Whatever the case of letters; a letter alone begins too many.
bool is_beginning(std::string_view name, std::string_view of) {
  return name.size() > 1 && name.size() < of.size() &&
         std::ranges::equal(name, of.substr(0, name.size()), {}, lower, lower);
}

/// "epochs" of "training.epochs".
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool is_alike(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// Whether `name` has the first letters of the words of `of`: "lr" of "learning_rate".
bool are_initials(std::string_view name, std::string_view of) {
  std::string initials;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (i == 0 || of[i - 1] == '_') initials += of[i];
  }
  return name.size() > 1 && is_alike(name, initials);
}

/// Candidates of which `part` differs least from `name`, within few letters.
std::vector<std::string> misspelt(std::string_view name, const std::vector<std::string>& candidates,
                                  std::string_view (*part)(std::string_view)) {
  std::vector<std::string> result;
  std::size_t nearest = name.size() <= 3 ? 1 : std::max<std::size_t>(2, name.size() / 3);
  for (const auto& candidate : candidates) {
    const std::size_t d = distance(name.substr(0, 100), part(candidate));
    if (d > nearest) continue;
    if (d < nearest) result.clear();
    nearest = d;
    result.push_back(candidate);
  }
  return result;
}

/// The longest candidate with which `name` begins: "Conv" for "Convolution". Two letters are too
/// few.
std::vector<std::string> longest_beginning(std::string_view name,
                                           const std::vector<std::string>& candidates) {
  std::string longest;
  for (const auto& candidate : candidates) {
    if (candidate.size() > std::max<std::size_t>(2, longest.size()) &&
        is_beginning(candidate, name)) {
      longest = candidate;
    }
  }
  return longest.empty() ? std::vector<std::string>() : std::vector{longest};
}

/// A file's may hold anything.
std::vector<std::string> printable_names(std::vector<std::string> names) {
  for (std::string& name : names) name = printable(name);
  return names;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  constexpr std::size_t kMost = 3;
  const auto that = [&](const auto& is_near) {
    std::vector<std::string> near;
    std::ranges::copy_if(candidates, std::back_inserter(near), is_near);
    return near;
  };
  const auto whole = [](std::string_view candidate) { return candidate; };
  auto result = that([&](const std::string& candidate) {
    return name.size() > 1 && (is_alike(name, candidate) || is_alike(name, last_part(candidate)));
  });
  if (result.empty()) {
    result = that([&](const std::string& candidate) { return is_beginning(name, candidate); });
  }
  if (result.empty()) {
    const auto beginning = [](std::string_view of) {
      return of.substr(0, of.size() - last_part(of).size());
    };
    result = that([&](const std::string& candidate) {
      return (beginning(name).empty() || beginning(name) == beginning(candidate)) &&
             are_initials(last_part(name), last_part(candidate));
    });
  }
  if (result.empty()) result = misspelt(name, candidates, whole);
  if (result.empty()) {
    result = that(
        [&](const std::string& candidate) { return is_beginning(name, last_part(candidate)); });
  }
  if (result.empty()) result = misspelt(name, candidates, last_part);
  if (result.empty()) result = longest_beginning(name, candidates);
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  if (result.size() > kMost) result.resize(kMost);
  return result;
}

bool mentions(std::string_view summary, std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto alike = [](char a, char b) { return lower(a) == lower(b); };
  constexpr std::size_t kShortest = 3;  // fewer letters are no name
  if (name.size() < kShortest) return false;
  for (auto place = summary.begin();;) {
    place = std::search(place, summary.end(), name.begin(), name.end(), alike);
    if (place == summary.end()) return false;
    const auto end = place + std::ptrdiff_t(name.size());
    const bool begins = place == summary.begin() || !is_letter(*(place - 1));
    const bool ends = end == summary.end() || !is_letter(*end);
    if (begins && ends) return true;
    ++place;
  }
}

std::string detail::unknown_name(std::string_view kind, std::string_view name,
                                 const std::vector<std::string>& known,
                                 const std::vector<std::string>& meant) {
  constexpr std::size_t kMostMeant = 3;  // more entries have a common word in their summaries
  const bool is_meant = !meant.empty() && meant.size() <= kMostMeant;
  const auto near = printable_names(is_meant ? meant : nearest_names(name, known));
  std::string hint = near.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(near, " or "));
  if (known.empty()) {
    hint += "none is known";
  } else if (known.size() <= 40) {
    hint += fmt::format("known: {}", fmt::join(printable_names(known), ", "));
  } else {
    hint += fmt::format("{} are known", known.size());
  }
  return fmt::format("{} '{}' is unknown; {}", kind, printable(name), hint);
}

void throw_unknown_name(std::string_view kind, std::string_view name,
                        const std::vector<std::string>& known,
                        const std::vector<std::string>& meant) {
  throw NotFound(detail::unknown_name(kind, name, known, meant));
}

void throw_duplicate_name(std::string_view kind, std::string_view name) {
  throw ValueError(
      fmt::format("{} '{}' is there already; choose another name", kind, printable(name)));
}

}  // namespace d5
