// SPDX-License-Identifier: Apache-2.0
#include "prediction/traces/chakra_attributes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/errors/utf8.hpp"
#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "prediction/traces/chakra.pb.h"

namespace d5::chakra {
namespace {

constexpr auto kMostWhole = static_cast<std::int64_t>(detail::JsonReader::kMostWhole);

/// Whether an argument holds the attribute as it is.
bool is_plain(const AttributeProto& attribute) {
  if (!attribute.doc_string().empty() || attribute.name().starts_with(kField)) return false;
  switch (attribute.value_case()) {
    case AttributeProto::kInt64Val:
      return attribute.int64_val() <= kMostWhole && attribute.int64_val() >= -kMostWhole;
    case AttributeProto::kDoubleVal:
      return std::isfinite(attribute.double_val());
    case AttributeProto::kStringVal:
      return is_text(attribute.string_val());
    default:
      return false;
  }
}

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return number;
}

/// The text of an attribute that is no argument as it is; empty: there is none.
std::string_view typed_text(const Arguments& arguments, std::string_view name) {
  const auto place = std::ranges::find_if(arguments, [&](const TraceArgument& each) {
    return each.name.size() == kTyped.size() + name.size() && each.name.starts_with(kTyped) &&
           each.name.ends_with(name);
  });
  if (place == arguments.end()) return {};
  const auto* text = std::get_if<std::string>(&place->value);
  return text ? std::string_view(*text) : std::string_view{};
}

[[noreturn]] void refuse(const TraceArgument& argument, const char* expected) {
  const std::string value =
      std::visit([](const auto& each) { return fmt::format("{}", each); }, argument.value);
  throw ValueError(
      fmt::format("Chakra trace: the attribute '{}' of an operation is '{}'; expected "
                  "{}, as reading a trace leaves it",
                  printable(argument.name), printable(value), expected));
}

}  // namespace

bool is_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = d5::detail::first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

TraceArgument argument_of(const AttributeProto& attribute) {
  if (!is_text(attribute.name())) {
    throw ValueError(
        fmt::format("an attribute's name is '{}'; expected UTF-8", printable(attribute.name())));
  }
  if (is_plain(attribute)) {
    if (attribute.has_int64_val()) return {attribute.name(), attribute.int64_val()};
    if (attribute.has_double_val()) return {attribute.name(), attribute.double_val()};
    return {attribute.name(), attribute.string_val()};
  }
  AttributeProto rest = attribute;
  rest.clear_name();
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(rest, &text);
  while (text.ends_with(' ')) text.pop_back();
  return {std::string(kTyped) + attribute.name(), std::move(text)};
}

void fill(AttributeProto& attribute, const TraceArgument& argument) {
  if (argument.name.starts_with(kTyped)) {
    struct Silent final : google::protobuf::io::ErrorCollector {
      void AddError(int, int, const std::string&) override {}
    } silent;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&silent);
    const auto* text = std::get_if<std::string>(&argument.value);
    if (!text || !parser.ParseFromString(*text, &attribute) || !attribute.name().empty()) {
      refuse(argument, "text of protobuf, as 'bool_val: true'");
    }
    attribute.set_name(argument.name.substr(kTyped.size()));
    return;
  }
  if (argument.name.starts_with(kField)) refuse(argument, "a field that a node has");
  attribute.set_name(argument.name);
  if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
    attribute.set_int64_val(*whole);
  } else if (const auto* real = std::get_if<double>(&argument.value)) {
    attribute.set_double_val(*real);
  } else {
    attribute.set_string_val(std::get<std::string>(argument.value));
  }
}

decltype(TraceArgument::value) exact(std::uint64_t number) {
  if (number <= static_cast<std::uint64_t>(kMostWhole)) return static_cast<std::int64_t>(number);
  return fmt::format("{}", number);
}

std::uint64_t number_of(const TraceArgument& argument) {
  if (const auto* whole = std::get_if<std::int64_t>(&argument.value); whole && *whole >= 0) {
    return static_cast<std::uint64_t>(*whole);
  }
  const auto* text = std::get_if<std::string>(&argument.value);
  const auto number = text ? parsed<std::uint64_t>(*text) : std::nullopt;
  if (!number) refuse(argument, "a number of 0 or more");
  return *number;
}

TraceArgument list_of(const char* name, const std::vector<std::uint64_t>& numbers) {
  return {name, fmt::format("{}", fmt::join(numbers, " "))};
}

const TraceArgument* find(const Arguments& arguments, std::string_view name) {
  const auto place = std::ranges::find(arguments, name, &TraceArgument::name);
  return place == arguments.end() ? nullptr : &*place;
}

std::vector<std::uint64_t> numbers_of(const Arguments& arguments, std::string_view name) {
  const TraceArgument* list = find(arguments, name);
  if (!list) return {};
  const auto* text = std::get_if<std::string>(&list->value);
  if (!text) refuse(*list, "numbers with spaces between");
  std::vector<std::uint64_t> numbers;
  std::istringstream words(*text);
  for (std::string word; words >> word;) {
    const auto number = parsed<std::uint64_t>(word);
    if (!number) refuse(*list, "numbers with spaces between");
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::int64_t> whole_attribute(const Arguments& arguments, std::string_view name) {
  if (const TraceArgument* plain = find(arguments, name)) {
    const auto* whole = std::get_if<std::int64_t>(&plain->value);
    return whole ? std::optional(*whole) : std::nullopt;
  }
  const std::string_view text = typed_text(arguments, name);
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos || !text.substr(0, colon).ends_with("_val")) return {};
  return parsed<std::int64_t>(text.substr(colon + 2));
}

std::optional<bool> truth_attribute(const Arguments& arguments, std::string_view name) {
  const std::string_view text = typed_text(arguments, name);
  if (text != "bool_val: true" && text != "bool_val: false") return {};
  return text == "bool_val: true";
}

}  // namespace d5::chakra
