// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// "6.0.17 (d6147c7eb7)": the version of MLPerf's load generator, unmodified, in this d5; empty if
/// d5 was built without it, in which case the scenarios single_stream, multi_stream, server and
/// offline are unsupported.
[[nodiscard]] std::string loadgen_version();

}  // namespace d5
