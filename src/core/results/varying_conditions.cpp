// SPDX-License-Identifier: Apache-2.0
#include "core/results/varying_conditions.hpp"

#include <algorithm>
#include <map>

namespace d5::detail {
namespace {

std::set<std::string> varying(std::span<const Measurement* const> records,
                              std::initializer_list<Role> roles) {
  std::map<std::string, std::set<std::string>> values;
  for (const Measurement* record : records) {
    for (const auto& [name, condition] : record->conditions) {
      if (std::ranges::find(roles, condition.role) == roles.end()) continue;
      values[name].insert(condition.exact());
    }
  }
  std::set<std::string> names;
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1) names.insert(name);
  }
  return names;
}

}  // namespace

std::set<std::string> varying_identities(std::span<const Measurement* const> records) {
  return varying(records, {Role::identity});
}

std::set<std::string> varying_conditions(std::span<const Measurement* const> records) {
  return varying(records, {Role::identity, Role::setting});
}

}  // namespace d5::detail
