// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/extension.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/build_operators.hpp"
#include "d5/level0_ops/custom_operator.hpp"

namespace d5 {

std::string load_extension(const std::string& path) {
  // With a slash, so that no folder of the system is searched for it.
  const std::string file =
      is_operator_source(path) ? build_operators(path) : std::filesystem::absolute(path).string();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw IoError(fmt::format("library '{}': {}", printable(path), dlerror()));
  const bool is_plugin = dlsym(library, "d5_plugin_stamp") != nullptr;
  if (!is_plugin && !dlsym(library, "d5_custom_operators")) {
    dlclose(library);
    throw Unsupported(
        fmt::format("library '{}' holds nothing for d5: neither D5_FRAMEWORK_PLUGIN nor "
                    "d5_custom_operators (d5/abi.h) stands in it",
                    printable(path)));
  }
  if (is_plugin) {
    const Framework& loaded = framework(file);
    return fmt::format("framework {} {}", loaded.name(), loaded.version());
  }
  return fmt::format("operators {}", fmt::join(load_custom_operators(file), ", "));
}

}  // namespace d5
