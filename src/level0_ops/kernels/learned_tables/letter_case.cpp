// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/letter_case.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

std::optional<std::locale> installed(const std::string& name) {
  try {
    return std::locale(name);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::locale find_locale(const std::string& name) {
  // The system would read tables from a file that a model names.
  if (name.find('/') != std::string::npos) {
    throw ValueError(
        fmt::format("the locale '{}' is a path, expected a name as en_US", printable(name)));
  }
  if (!name.empty()) {
    // With its own encoding first: without one, Linux takes a name for a Latin-1 locale.
    for (const std::string& known : {name + ".UTF-8", name}) {
      if (const auto locale = installed(known)) return *locale;
    }
  }
  // An i without a dot, and accents that stay: these have upper cases of their own.
  for (const std::string_view language : {"tr", "az", "lt"}) {
    if (!name.starts_with(language)) continue;
    throw Unsupported(fmt::format(
        "the locale '{}' has upper cases of its own, and this system lacks it: install it",
        printable(name)));
  }
  if (const auto locale = installed("C.UTF-8")) return *locale;
  throw Unsupported("upper and lower case need the locale C.UTF-8, which this system lacks");
}

/// The letter that `text` begins with, and its bytes; 0 bytes where it is not UTF-8.
struct Letter {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool has_shorter = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  return has_shorter ? Letter() : Letter{code, bytes};
}

void append(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes behind the first
  text += char((0xF0u << (3 - more)) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += char(0x80 | (code >> (6 * i) & 0x3F));
}

}  // namespace

LetterCase::LetterCase(const std::string& locale) : locale_(find_locale(locale)) {}

std::string LetterCase::map(std::string_view text, Case to) const {
  const auto& tables = std::use_facet<std::ctype<wchar_t>>(locale_);
  std::string result;
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    if (letter.bytes == 0) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto code = wchar_t(letter.code);
    append(result, std::uint32_t(to == Case::upper ? tables.toupper(code) : tables.tolower(code)));
    text.remove_prefix(letter.bytes);
  }
  return result;
}

}  // namespace d5::detail
