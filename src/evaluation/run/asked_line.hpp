// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "d5/core/measuring/command_line.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"

namespace d5::detail {

/// The part of an evaluation for one model in one framework.
[[nodiscard]] EvaluationManifest asked_of(const EvaluationManifest& manifest, std::size_t model,
                                          const std::string& framework);
/// The command that runs an evaluation, such as the result of `asked_of` or a part of it.
[[nodiscard]] CommandLine asked_line(const std::string& command, const EvaluationManifest& asked);
/// Conditions that describe how its predictors serve.
void add_serving(const EvaluationManifest& manifest, WorkPiece& piece);

}  // namespace d5::detail
