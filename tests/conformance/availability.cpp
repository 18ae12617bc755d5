// SPDX-License-Identifier: Apache-2.0
#include "conformance/availability.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/extension.hpp"

namespace d5::conformance {

std::string why_absent(const std::string& framework, const std::string& load) {
  try {
    if (!load.empty()) (void)load_extension(load);
  } catch (const Error& error) {
    return error.what();
  }
  const auto known = frameworks();
  const auto found = std::ranges::find(known, framework, &FrameworkInfo::name);
  if (found != known.end()) return found->path.empty() ? found->reason : "";  // or left out
  return fmt::format("framework {} is not built", framework);
}

}  // namespace d5::conformance
