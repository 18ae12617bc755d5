// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/extension.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/build_operators.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"

namespace d5 {
namespace {

struct Loaders {
  std::mutex mutex;
  std::map<std::string, LoadExtension> by_suffix;
};
Loaders& loaders() {
  static Loaders all;
  return all;
}

/// Empty if there is no loader yet.
LoadExtension loader_of(const std::string& suffix) {
  const std::lock_guard lock(loaders().mutex);
  const auto place = loaders().by_suffix.find(suffix);
  return place == loaders().by_suffix.end() ? LoadExtension{} : place->second;
}

bool is_library(const std::string& suffix) { return suffix.empty() || suffix == ".so"; }

std::string loader_file(const std::string& suffix) {
  return fmt::format("d5_loader_{}.so", suffix.substr(1));
}

/// Starts the library that registers a loader for the suffix, if it exists.
void start_loader(const std::string& suffix) {
  for (const auto& folder : plugin_path()) {
    const std::string file = folder + "/" + loader_file(suffix);
    if (!std::filesystem::exists(file)) continue;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* start = library ? dlsym(library, "d5_start_loader") : nullptr;
    if (!start) {
      throw Unsupported(
          fmt::format("the loader '{}' cannot be used: {}", printable(file), dlerror()));
    }
    reinterpret_cast<void (*)()>(start)();
    return;
  }
}

[[noreturn]] void throw_without_python(const std::string& path) {
  throw IoError(
      fmt::format("extension '{}': this d5 was built without the loader of Python files ({}); "
                  "build d5 with D5_BUILD_PYTHON=ON and Python's shared library, or load the file "
                  "in Python: d5.op.load",
                  printable(path), loader_file(".py")));
}

}  // namespace

void add_extension_loader(const std::string& suffix, LoadExtension load) {
  const std::lock_guard lock(loaders().mutex);
  if (loaders().by_suffix.try_emplace(suffix, std::move(load)).second) return;
  throw_duplicate_name("loader of", suffix);
}

std::string load_extension(const std::string& path) {
  std::error_code unknown;  // folders above it may be unreadable
  if (!std::filesystem::exists(path, unknown) && !unknown) {
    throw IoError(fmt::format("extension '{}': there is no such file", printable(path)));
  }
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (!is_library(suffix) && !loader_of(suffix)) start_loader(suffix);
  if (const LoadExtension load = loader_of(suffix)) {
    return load(std::filesystem::absolute(path).string());
  }
  // With a slash, so that system folders are not searched.
  const std::string file =
      is_operator_source(path) ? build_operators(path) : std::filesystem::absolute(path).string();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    if (suffix == ".py") throw_without_python(path);
    const std::string way_out =
        is_library(suffix) ? ""
                           : fmt::format("; nor is {} among the plug-ins", loader_file(suffix));
    throw IoError(fmt::format("library '{}': {}{}", printable(path), dlerror(), way_out));
  }
  const bool is_plugin = dlsym(library, "d5_plugin_stamp") != nullptr;
  if (!is_plugin && !dlsym(library, "d5_custom_operators")) {
    dlclose(library);
    throw Unsupported(
        fmt::format("library '{}' has nothing for d5: it defines neither D5_FRAMEWORK_PLUGIN nor "
                    "d5_custom_operators (d5/abi.h)",
                    printable(path)));
  }
  if (is_plugin) {
    const Framework& loaded = framework(file);
    return fmt::format("framework {} {}", loaded.name(), loaded.version());
  }
  return fmt::format("operators {}", fmt::join(load_custom_operators(file), ", "));
}

}  // namespace d5
