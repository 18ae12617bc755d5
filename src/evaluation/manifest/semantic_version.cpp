// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/semantic_version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// A number without leading zeros that fits an int64.
std::optional<std::int64_t> version_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  const bool plain = is_digits(text) && (text.size() == 1 || text[0] != '0');
  if (!plain || error != std::errc() || rest != text.end()) return std::nullopt;
  return value;
}

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == between) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_identifier(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

/// One to three numbers between dots; at least `least` of them.
std::optional<SemanticVersion> parse_version(std::string_view text, std::size_t least) {
  SemanticVersion version;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    version.build = text.substr(plus + 1);
    if (!std::ranges::all_of(parts_of(version.build, '.'), is_identifier)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    version.pre_release = parts_of(text.substr(dash + 1), '.');
    for (const auto& part : version.pre_release) {
      if (!is_identifier(part) || (is_digits(part) && !version_number(part))) return std::nullopt;
    }
    text = text.substr(0, dash);
  }
  const auto numbers = parts_of(text, '.');
  if (numbers.size() < least || numbers.size() > 3) return std::nullopt;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = version_number(numbers[i]);
    if (!number) return std::nullopt;
    version.numbers[i] = *number;
  }
  return version;
}

std::weak_ordering compare_identifiers(const std::string& a, const std::string& b) {
  const auto x = version_number(a), y = version_number(b);
  if (x && y) return *x <=> *y;
  if (x || y) return x ? std::weak_ordering::less : std::weak_ordering::greater;
  return a <=> b;
}

}  // namespace

SemanticVersion SemanticVersion::parse(const std::string& text) {
  if (const auto version = parse_version(text, 3)) return *version;
  throw FormatError(
      fmt::format("'{}' is not a version, expected MAJOR.MINOR.PATCH such as 1.0.0 or 1.0.0-rc.1",
                  printable(text)));
}

SemanticVersion SemanticVersion::of_framework(const std::string& text) {
  SemanticVersion version;
  std::size_t place = 0, count = 0;
  const std::size_t begin = text.starts_with('v') ? 1 : 0;
  for (place = begin; place < text.size();) {
    const auto end = std::min(text.find_first_not_of("0123456789", place), text.size());
    if (end == place) break;
    const auto [rest, error] =
        std::from_chars(text.data() + place, text.data() + end,
                        count < 3 ? version.numbers[count] : version.numbers[2]);
    if (error != std::errc()) break;
    ++count;
    place = end;
    if (count == 3 || place >= text.size() || text[place] != '.') break;
    ++place;
  }
  if (count == 0) {
    throw FormatError(fmt::format(
        "'{}' is not a framework's version, expected numbers such as 2.4.0", printable(text)));
  }
  const std::string_view rest = std::string_view(text).substr(place);
  const auto plus = rest.find('+');
  std::string pre(rest.substr(0, plus));
  if (plus != std::string_view::npos) version.build = rest.substr(plus + 1);
  if (pre.starts_with('.') && pre.size() > 1 && is_digits(pre.substr(1, 1)))
    pre.clear();  // a fourth number
  std::erase_if(pre, [](char c) { return c == '-' || c == '.'; });
  const bool post = pre.starts_with("post");  // PEP 440: after the release
  if (!pre.empty() && !post) version.pre_release = {pre};
  return version;
}

std::weak_ordering SemanticVersion::operator<=>(const SemanticVersion& other) const {
  if (const auto order = numbers <=> other.numbers; std::is_neq(order)) return order;
  if (pre_release.empty() || other.pre_release.empty()) {
    return other.pre_release.size() == pre_release.size() ? std::weak_ordering::equivalent
           : pre_release.empty()                          ? std::weak_ordering::greater
                                                          : std::weak_ordering::less;
  }
  for (std::size_t i = 0; i < std::min(pre_release.size(), other.pre_release.size()); ++i) {
    const auto order = compare_identifiers(pre_release[i], other.pre_release[i]);
    if (std::is_neq(order)) return order;
  }
  return pre_release.size() <=> other.pre_release.size();
}

std::string to_string(const SemanticVersion& version) {
  const auto& [major, minor, patch] = version.numbers;
  std::string text = fmt::format("{}.{}.{}", major, minor, patch);
  for (std::size_t i = 0; i < version.pre_release.size(); ++i) {
    text += (i == 0 ? "-" : ".") + version.pre_release[i];
  }
  return text + (version.build.empty() ? "" : "+" + version.build);
}

VersionRange VersionRange::parse(const std::string& text) {
  VersionRange range;
  range.text_ = text;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto digit = std::min(word.find_first_of("0123456789"), word.size());
    const std::string sign = word.substr(0, digit);
    const auto version = parse_version(std::string_view(word).substr(digit), 1);
    const bool known = sign == ">=" || sign == ">" || sign == "<=" || sign == "<" || sign == "=";
    if (!known || !version) {
      throw FormatError(fmt::format(
          "'{}' is not a bound of versions; expected one such as '>=2.4 <3' or '=1.31.1'",
          printable(word)));
    }
    range.bounds_.push_back({sign, *version});
  }
  // If any version is in the range, one of these is: a bound, or its direct successor.
  std::vector<SemanticVersion> candidates(1);
  for (const Bound& bound : range.bounds_) {
    candidates.push_back(bound.version);
    candidates.push_back(bound.version);
    ++candidates.back().numbers[2];
    candidates.back().pre_release.clear();
  }
  if (std::ranges::none_of(candidates, [&](const auto& version) { return range.holds(version); })) {
    throw FormatError(
        fmt::format("no version is in '{}'; the bounds contradict each other", printable(text)));
  }
  return range;
}

bool VersionRange::holds(const SemanticVersion& version) const {
  return std::ranges::all_of(bounds_, [&](const Bound& bound) {
    const auto order = version <=> bound.version;
    if (bound.sign == ">=") return std::is_gteq(order);
    if (bound.sign == ">") return std::is_gt(order);
    if (bound.sign == "<=") return std::is_lteq(order);
    if (bound.sign == "=") return std::is_eq(order);
    const bool pre_of_bound = version.numbers == bound.version.numbers &&
                              bound.version.pre_release.empty() && !version.pre_release.empty();
    return std::is_lt(order) && !pre_of_bound;
  });
}

}  // namespace d5
