// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// "6.0.17 (d6147c7eb7)": MLPerf's load generator as d5 was built with it, unmodified; empty where
/// it was built without. Then the scenarios single_stream, multi_stream, server and offline are
/// unsupported.
[[nodiscard]] std::string loadgen_version();

}  // namespace d5
