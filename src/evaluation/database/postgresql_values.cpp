// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/postgresql_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace d5::detail {
namespace {

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += kDigits[std::size_t(static_cast<unsigned char>(byte) >> 4)];
    text += kDigits[std::size_t(static_cast<unsigned char>(byte) & 15)];
  }
  return text;
}

}  // namespace

void add_copied(std::string& line, const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    line += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&value); number && !std::isnan(*number)) {
    line += fmt::format("{}", *number);
  } else if (const auto* bytes = std::get_if<SqlBytes>(&value)) {
    line += "\\\\x" + hex_of(bytes->bytes);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    for (const char c : *text) {
      if (c == '\\' || c == '\t' || c == '\n' || c == '\r') line += '\\';
      line += c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c;
    }
  } else {
    line += "\\N";
  }
}

PostgresqlParameters::PostgresqlParameters(const SqlRow& row) {
  texts_.reserve(row.size());
  for (const SqlValue& value : row) add(value);
}

void PostgresqlParameters::add(const SqlValue& value) {
  const auto* bytes = std::get_if<SqlBytes>(&value);
  const auto* number = std::get_if<double>(&value);
  const bool is_nothing =
      std::holds_alternative<std::monostate>(value) || (number && std::isnan(*number));
  if (bytes) {
    texts_.push_back(bytes->bytes);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    texts_.push_back(std::to_string(*integer));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    texts_.push_back(*text);
  } else {
    texts_.push_back(number ? fmt::format("{}", *number) : std::string());
  }
  values_.push_back(is_nothing ? nullptr : texts_.back().data());
  lengths_.push_back(int(texts_.back().size()));
  formats_.push_back(bytes ? 1 : 0);
}

}  // namespace d5::detail
