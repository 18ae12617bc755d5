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

/// Throws: Unsupported unless the loaded library matches the headers of the build: the same major
/// version, and at least the minor one.
void expect_version();

}  // namespace d5::onednn
