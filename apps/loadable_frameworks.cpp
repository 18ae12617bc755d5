// SPDX-License-Identifier: Apache-2.0
#include "apps/loadable_frameworks.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

#include "apps/say.hpp"

namespace d5::app {

std::vector<Framework*> loadable_frameworks() {
  auto result = d5::loadable_frameworks();
  say_what_cannot_be_loaded();
  return result;
}

void say_what_cannot_be_loaded() {
  static std::set<std::string> said;  // reports each absence once
  for (const auto& info : frameworks()) {
    if (!info.reason.empty() && said.insert(info.reason).second) {
      say(fmt::format("note: {}", info.reason));
    }
  }
}

}  // namespace d5::app
