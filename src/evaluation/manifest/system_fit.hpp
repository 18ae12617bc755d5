// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/core/results/environment.hpp"
#include "d5/evaluation/manifest/system_manifest.hpp"

namespace d5::detail {

/// The requirements of a system's manifest that a machine does not meet: "it has 2 cores, but 8 are
/// required; no avx512f"; empty if it meets all. A container's limits count. `labels` are those of
/// the machine's owner.
///
///     const std::string why_not = why_unfit(system, environment());
[[nodiscard]] std::string why_unfit(const SystemManifest& system, const Environment& machine,
                                    const std::map<std::string, std::string>& labels = {});

}  // namespace d5::detail
