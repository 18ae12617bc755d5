// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/asked_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/generators/completion_fault.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

std::string shown(const json& value) {
  constexpr std::size_t kMost = 60;
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return printable(text);
}

}  // namespace

AskedMembers::AskedMembers(const json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (object.is_object()) return;
  throw CompletionFault(place_.empty()
                            ? "the body is no JSON object, expected {\"model\": ..., ...}"
                            : fmt::format("'{}' is {}, expected an object", place_, shown(object)),
                        place_);
}

std::string AskedMembers::place_of(const std::string& name) const {
  return place_.empty() ? name : place_ + "." + name;
}

void AskedMembers::fail(const std::string& name, const std::string& expected) const {
  const auto found = object_.find(name);
  const std::string given = found == object_.end() || found->is_null() ? "missing" : shown(*found);
  throw CompletionFault(fmt::format("'{}' is {}, expected {}", place_of(name), given, expected),
                        place_of(name));
}

const json* AskedMembers::find(const std::string& name) {
  known_.push_back(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> AskedMembers::text(const std::string& name) {
  const json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) fail(name, "a text");
  return value->get<std::string>();
}

std::optional<std::int64_t> AskedMembers::whole(const std::string& name, std::int64_t least,
                                                std::int64_t most) {
  const json* value = find(name);
  if (!value) return std::nullopt;
  const bool fits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t(INT64_MAX)) &&
      value->get<std::int64_t>() >= least && value->get<std::int64_t>() <= most;
  if (!fits) fail(name, fmt::format("a whole number from {} to {}", least, most));
  return value->get<std::int64_t>();
}

std::optional<double> AskedMembers::number(const std::string& name, double least, double most,
                                           const std::string& expected) {
  const json* value = find(name);
  if (!value) return std::nullopt;
  const bool fits =
      value->is_number() && value->get<double>() >= least && value->get<double>() <= most;
  if (!fits) fail(name, expected);
  return value->get<double>();
}

bool AskedMembers::flag(const std::string& name) {
  const json* value = find(name);
  if (!value) return false;
  if (!value->is_boolean()) fail(name, "true or false");
  return value->get<bool>();
}

void AskedMembers::expect_neutral(const std::string& name, const json& value) {
  const json* given = find(name);
  if (!given || *given == value || (given->is_structured() && given->empty())) return;
  fail(name,
       value.is_null() ? "none: it is not supported" : shown(value) + ", all that is supported");
}

void AskedMembers::expect_all_known() const {
  for (const auto& [name, value] : object_.items()) {
    if (value.is_null() || std::ranges::find(known_, name) != known_.end()) continue;
    try {
      throw_unknown_name("member of the request", name, known_);
    } catch (const NotFound& error) {
      throw CompletionFault(error.what(), place_of(name));
    }
  }
}

}  // namespace d5::detail
