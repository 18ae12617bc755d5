// SPDX-License-Identifier: Apache-2.0
#include "apps/loadable_frameworks.hpp"

#include <fmt/format.h>

#include "apps/say.hpp"
#include "d5/core/error.hpp"

namespace d5::app {

std::vector<Framework*> loadable_frameworks() {
  std::vector<Framework*> result;
  for (const auto& info : frameworks()) {
    try {
      result.push_back(&framework(info.name));
    } catch (const Error& error) {
      say(fmt::format("note: {}", error.what()));
    }
  }
  return result;
}

}  // namespace d5::app
