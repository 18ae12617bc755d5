// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/canonical_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/files/sha256.hpp"
#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using nlohmann::json;

/// Parses, and detects names that occur twice, which the parsed document does not show.
json parse_strictly(const std::string& text, const std::string& who) {
  std::vector<std::set<std::string>> names;
  detail::expect_shallow_json(text, who);
  const auto watch = [&](int /*depth*/, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key &&
        !names.back().insert(value.get<std::string>()).second) {
      throw FormatError(fmt::format("{} gives {} twice in one object; names must differ", who,
                                    printable(value.get<std::string>())));
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    throw FormatError(
        fmt::format("{} is not valid JSON: {}", who, printable_message(error.what())));
  }
}

/// The order of RFC 8785: by UTF-16 code units, in which a surrogate pair comes before U+E000.
std::vector<unsigned> utf16(const std::string& text) {
  std::vector<unsigned> units;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    unsigned code = more == 0 ? first : first & (0x3Fu >> more);
    for (int k = 1; k <= more; ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    if (code < 0x10000) {
      units.push_back(code);
    } else {
      units.push_back(0xD800 + ((code - 0x10000) >> 10));
      units.push_back(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
    i += 1 + static_cast<std::size_t>(more);
  }
  return units;
}

/// ECMAScript's Number::toString: the fewest digits that read back, plain from 1e-6 to 1e21.
std::string number_text(double value) {
  if (value == 0) return "0";  // also for -0
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific);
  const std::string written(buffer, end.ptr);
  const auto e = written.find('e');
  std::string digits = written.substr(0, e);
  std::erase(digits, '.');
  const int point = std::stoi(written.substr(e + 1)) + 1;  // digits before the decimal point
  const int count = static_cast<int>(digits.size());
  std::string text;
  if (count <= point && point <= 21) {
    text = digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    text = digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    text = "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else {
    text = digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") +
           fmt::format("e{:+d}", point - 1);
  }
  return (value < 0 ? "-" : "") + text;
}

double exact_number(const json& value, const std::string& who) {
  const double number = value.get<double>();
  const bool integer_kept =
      !value.is_number_integer() ||
      (std::abs(number) < 0x1p63 &&
       (value.is_number_unsigned()
            ? static_cast<std::uint64_t>(number) == value.get<std::uint64_t>()
            : static_cast<std::int64_t>(number) == value.get<std::int64_t>()));
  if (!std::isfinite(number) || !integer_kept) {
    throw FormatError(fmt::format("{} holds {}, which a double cannot represent; give it as text",
                                  who, value.dump()));
  }
  return number;
}

void write(const json& value, const std::string& who, std::string& out) {
  if (value.is_object()) {
    std::vector<std::string> names;
    for (const auto& [name, member] : value.items()) names.push_back(name);
    std::ranges::sort(names, {}, utf16);
    out += '{';
    for (const auto& name : names) {
      if (out.back() != '{') out += ',';
      out += json(name).dump() + ':';
      write(value.at(name), who, out);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const auto& element : value) {
      if (out.back() != '[') out += ',';
      write(element, who, out);
    }
    out += ']';
  } else if (value.is_number()) {
    out += number_text(exact_number(value, who));
  } else {
    out += value.dump();
  }
}

}  // namespace

std::string canonical_json(const std::string& json, const std::string& who) {
  std::string out;
  write(parse_strictly(json, who), who, out);
  return out;
}

std::string canonical_digest(const std::string& json, const std::string& who) {
  return detail::sha256(canonical_json(json, who));
}

}  // namespace d5
