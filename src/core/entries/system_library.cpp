// SPDX-License-Identifier: Apache-2.0
#include "core/entries/system_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

SystemLibrary::SystemLibrary(const char* name, std::string use, const char* remedy)
    : handle_(dlopen(fmt::format("{}/d5_{}.so", plugin_path().back(), name).c_str(),
                     RTLD_NOW | RTLD_LOCAL)),
      use_(std::move(use)),
      remedy_(remedy) {
  if (!handle_) reason_ = dlerror();
}

void* SystemLibrary::find(const char* name) const {
  void* const found = handle_ ? dlsym(handle_, name) : nullptr;
  if (found) return found;
  throw Unsupported(fmt::format("{}: a library cannot be loaded: {}; {}", use_,
                                printable_message(handle_ ? dlerror() : reason_.c_str()), remedy_));
}

}  // namespace d5::detail
