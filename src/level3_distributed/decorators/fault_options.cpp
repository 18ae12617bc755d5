// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/decorators/fault_injection.hpp"

namespace d5 {
namespace {

using Kind = FaultOptions::Kind;
constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"kill", Kind::kill}, {"hang", Kind::hang}, {"delay", Kind::delay}, {"nan", Kind::nan}};

[[noreturn]] void refuse(const std::string& words, const std::string& why) {
  throw ValueError(fmt::format(
      "fault '{}': {}; expected kill, hang, delay or nan with a rank from 0 and a step from 1, "
      "such as hang:rank=1,step=100 or delay:rank=0,step=3,seconds=0.5",
      printable(words), why));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Removes and returns the text before `separator`, and the separator.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
  return part;
}

}  // namespace

FaultOptions fault_of(const std::string& words) {
  FaultOptions fault;
  std::string_view text = words;
  const std::string_view kind = take(text, ':');
  bool known = false, has_rank = false, has_step = false;
  for (const auto& [name, value] : kKinds) {
    if (kind != name) continue;
    fault.kind = value;
    known = true;
  }
  if (!known) refuse(words, fmt::format("'{}' is not a fault", printable(kind)));
  while (!text.empty()) {
    std::string_view value = take(text, ',');
    const std::string_view key = take(value, '=');
    const auto whole = number<std::int64_t>(value);
    const auto seconds = number<double>(value);
    if (key == "rank" && whole && *whole >= 0 && *whole < (1 << 30)) {
      fault.rank = static_cast<int>(*whole);
      has_rank = true;
    } else if (key == "step" && whole && *whole >= 1) {
      fault.step = *whole;
      has_step = true;
    } else if (key == "seconds" && fault.kind == Kind::delay && seconds && *seconds >= 0 &&
               *seconds <= 1e9) {
      fault.duration = std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
    } else {
      refuse(words, fmt::format("'{}={}' is not one of its settings, or out of range",
                                printable(key), printable(value)));
    }
  }
  if (!has_rank) refuse(words, "no rank is given");
  if (!has_step) refuse(words, "no step is given");
  return fault;
}

std::string to_string(const FaultOptions& fault) {
  std::string text;
  for (const auto& [name, kind] : kKinds) {
    if (fault.kind == kind) text = fmt::format("{}:rank={},step={}", name, fault.rank, fault.step);
  }
  if (fault.kind == Kind::delay) {
    text += fmt::format(",seconds={}", std::chrono::duration<double>(fault.duration).count());
  }
  return text;
}

}  // namespace d5
