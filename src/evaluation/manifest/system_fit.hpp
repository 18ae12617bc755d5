// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/core/results/environment.hpp"
#include "d5/evaluation/manifest/system_manifest.hpp"

namespace d5::detail {

/// What a machine has not of what a system's manifest wants: "it has 2 cores, 8 are wanted; no
/// avx512f"; empty where it has all. A container's limits count. `labels` are what the machine's
/// owner says of it.
///
///     const std::string why_not = why_unfit(system, environment());
[[nodiscard]] std::string why_unfit(const SystemManifest& system, const Environment& machine,
                                    const std::map<std::string, std::string>& labels = {});

}  // namespace d5::detail
