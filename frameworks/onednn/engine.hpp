// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace d5::onednn {

/// The processor, one a process.
[[nodiscard]] const dnnl::engine& engine();
/// Stream of all primitives, in order: a call returns when the work is done.
[[nodiscard]] const dnnl::stream& stream();

/// Version of the loaded library: "3.2.0".
[[nodiscard]] const char* version();

/// Throws: Unsupported unless the library that was loaded has the interface of the headers that
/// this was built with: the same major version, and no older minor one.
void expect_version();

}  // namespace d5::onednn
