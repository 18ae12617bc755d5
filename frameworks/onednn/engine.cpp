// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <fmt/format.h>

#include <string>

#include "d5/core/errors/error.hpp"

namespace d5::onednn {

const dnnl::engine& engine() {
  static const dnnl::engine result(dnnl::engine::kind::cpu, 0);
  return result;
}

const dnnl::stream& stream() {
  static const dnnl::stream result(engine());
  return result;
}

const char* version() {
  const dnnl_version_t& loaded = *dnnl_version();
  static const std::string text = fmt::format("{}.{}.{}", loaded.major, loaded.minor, loaded.patch);
  return text.c_str();
}

void expect_version() {
  const dnnl_version_t& loaded = *dnnl_version();
  if (loaded.major == DNNL_VERSION_MAJOR && loaded.minor >= DNNL_VERSION_MINOR) return;
  throw Unsupported(fmt::format(
      "framework onednn: the library that was found is oneDNN {}, but the plug-in was built for "
      "{}.{} or a later {}.x; build it again, or put that version first in LD_LIBRARY_PATH",
      version(), DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_MAJOR));
}

}  // namespace d5::onednn
