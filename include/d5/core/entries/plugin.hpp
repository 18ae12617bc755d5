// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/interface.hpp"
#include "d5/version.hpp"

namespace d5 {

/// What must agree between d5 and a C++ plug-in before any of its code is called.
struct PluginStamp {
  const char* d5_version;  ///< D5_VERSION_STAMP
  const char* compiler;
  int cxx11_abi;
  long cplusplus;
};

}  // namespace d5

/// "0.1.0+3f9a...": within a version, headers change from commit to commit.
#define D5_VERSION_STAMP D5_VERSION "+" D5_INTERFACE
#define D5_COMPILER_STAMP __VERSION__

/// Makes a shared library a framework plug-in. `NAME` and `VERSION` are strings, `FILL` is a
/// `void(d5::Framework&)` that registers what the framework has. Once per library.
///
///     void fill(d5::Framework& framework) { ... }
///     D5_FRAMEWORK_PLUGIN("mine", "1.0", fill)
#define D5_FRAMEWORK_PLUGIN(NAME, VERSION, FILL)                                               \
  extern "C" __attribute__((visibility("default"))) const d5::PluginStamp* d5_plugin_stamp() { \
    static const d5::PluginStamp stamp{D5_VERSION_STAMP, D5_COMPILER_STAMP,                    \
                                       _GLIBCXX_USE_CXX11_ABI, __cplusplus};                   \
    return &stamp;                                                                             \
  }                                                                                            \
  extern "C" __attribute__((visibility("default"))) const char* d5_framework_name() {          \
    return NAME;                                                                               \
  }                                                                                            \
  extern "C" __attribute__((visibility("default"))) const char* d5_framework_version() {       \
    return VERSION;                                                                            \
  }                                                                                            \
  extern "C" __attribute__((visibility("default"))) void d5_framework_fill(                    \
      d5::Framework& framework) {                                                              \
    FILL(framework);                                                                           \
  }
