// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "d5/core/machine/threads.hpp"

namespace d5 {
namespace {

/// Quotes a word for a POSIX shell. Within single quotes only a single quote is special.
std::string quoted(std::string_view word) {
  constexpr std::string_view kPlain = "_-+=:,./%@";
  const bool plain = !word.empty() && std::ranges::all_of(word, [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || kPlain.find(char(c)) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += R"('\'')";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace

std::string option_flag(const Option& option) {
  const bool is_on = option.type == "flag" && option.initial == "true";
  std::string flag = "--" + (is_on ? "no_" + option.name : option.name);
  if (!option.flag.empty()) flag = "--" + option.flag;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

CommandLine& CommandLine::word(std::string_view word) { return append(" " + quoted(word)); }

CommandLine& CommandLine::flag(const std::string& name) { return append(" " + name); }

CommandLine& CommandLine::option(const std::string& name, const Settings::Value& value) {
  return flag(name).word(value.text);
}

CommandLine& CommandLine::option(const Option& usual, const std::string& value) {
  if (usual.type != "flag") return option(option_flag(usual), value);
  return value == usual.initial ? *this : flag(option_flag(usual));
}

CommandLine& CommandLine::runs_in(const std::vector<std::string>& frameworks, Device device) {
  option("--framework", fmt::format("{}", fmt::join(frameworks, ",")));
  if (device != Device{}) option("--device", to_string(device));
  return option("--threads", threads());
}

CommandLine& CommandLine::metrics(const std::vector<MetricChoice>& metrics) {
  std::string names;
  for (const auto& metric : metrics) {
    if (metric.name().empty() || metric.name() == "time") continue;
    names += (names.empty() ? "" : ",") + metric.to_line();
  }
  return names.empty() ? *this : option("--metrics", names);
}

CommandLine& CommandLine::append(std::string_view options) {
  text_ += options;
  return *this;
}

}  // namespace d5
