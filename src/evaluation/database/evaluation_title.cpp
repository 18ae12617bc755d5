// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/database/evaluation_title.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace d5 {
namespace {

using nlohmann::json;

/// "torch, openvino": the names in a list whose entries are names, or have one.
std::string names_in(const json& object, const char* member) {
  std::vector<std::string> names;
  for (const json& entry : object.value(member, json::array())) {
    const json name = entry.is_object() ? entry.value("name", json()) : entry;
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string evaluation_title(const std::string& canonical) {
  const json all = json::parse(canonical, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) return {};
  const json evaluation = all.value("evaluation", all);
  if (!evaluation.is_object()) return {};
  std::vector<std::string> parts;
  // A fixed evaluation has its models beside it, with those of the command line.
  for (const std::string& part : {names_in(all, "models"), names_in(evaluation, "frameworks"),
                                  names_in(evaluation, "scenarios")}) {
    if (!part.empty()) parts.push_back(part);
  }
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, " · "));
  const json name = evaluation.value("name", json());
  return name.is_string() ? name.get<std::string>() : std::string();
}

}  // namespace d5
