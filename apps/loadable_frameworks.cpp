// SPDX-License-Identifier: Apache-2.0
#include "apps/loadable_frameworks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::app {

std::vector<Framework*> loadable_frameworks() {
  auto result = d5::loadable_frameworks();
  say_what_cannot_be_loaded();
  return result;
}

namespace {

/// It has no plug-in. An own choice of the build, unlike a plug-in that fails.
bool is_left_out(const FrameworkInfo& info) {
  return !info.reason.empty() && info.path.empty() && info.name.find('/') == std::string::npos;
}

}  // namespace

void say_what_is_left_out() {
  std::vector<std::string> names;
  for (const auto& info : frameworks()) {
    if (is_left_out(info)) names.push_back(printable(info.name));
  }
  if (names.empty()) return;
  say(fmt::format("note: left out of this build: {}; 'd5 env' says why", fmt::join(names, ", ")));
}

void say_what_cannot_be_loaded() {
  static std::set<std::string> said;  // reports each absence once
  for (const auto& info : frameworks()) {
    if (!info.reason.empty() && !is_left_out(info) && said.insert(info.reason).second) {
      say(fmt::format("note: {}", info.reason));
    }
  }
}

}  // namespace d5::app
