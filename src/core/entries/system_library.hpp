// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// A library that few commands need, and that brings many others: loaded when it is first asked.
/// Its symbols stay its own; it is never closed. CMake's `d5_load_when_asked` makes it.
class SystemLibrary {
 public:
  /// `name`: "curl" of d5_curl.so, beside d5's plug-ins, and whatever that is linked with; `use`
  /// of it, and how to get it, `remedy`, are for messages.
  SystemLibrary(const char* name, std::string use, const char* remedy);

  /// As its header declares it: `function<decltype(::PQexec)>("PQexec")`. Throws: Unsupported where
  /// the library, or this in it, is not there.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  [[nodiscard]] void* find(const char* name) const;

  void* handle_;
  std::string use_, reason_;
  const char* remedy_;
};

}  // namespace d5::detail
