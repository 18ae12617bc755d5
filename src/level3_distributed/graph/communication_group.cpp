// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/communication_group.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

struct Groups {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Communicator>, std::less<>> by_name;
};
Groups& groups() {
  static Groups all;
  return all;
}

}  // namespace

std::shared_ptr<Communicator> communication_group(std::string_view name) {
  {
    const std::lock_guard lock(groups().mutex);
    const auto place = groups().by_name.find(name);
    if (place != groups().by_name.end()) return place->second;
    if (name != "world") {
      std::vector<std::string> known{"world"};
      for (const auto& [other, ranks] : groups().by_name) known.push_back(other);
      throw_unknown_name("communication group", name, known);
    }
  }
  return world();
}

void name_communication_group(const std::string& name, std::shared_ptr<Communicator> ranks) {
  if (name.empty()) throw ValueError("a communication group needs a name, but it is empty");
  if (!ranks) {
    throw ValueError(fmt::format(
        "communication group '{}': it is null, expected a group that contains this rank",
        printable(name)));
  }
  const std::lock_guard lock(groups().mutex);
  groups().by_name[name] = std::move(ranks);
}

}  // namespace d5
