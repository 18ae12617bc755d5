// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "d5/core/command_line.hpp"
#include "d5/core/work_list.hpp"
#include "d5/evaluation/evaluation_manifest.hpp"

namespace d5::detail {

/// The command that asks for one model in one framework, of the same samples.
[[nodiscard]] CommandLine asked_line(const std::string& command, const EvaluationManifest& manifest,
                                     std::size_t model, const std::string& framework);
/// How its predictors serve, as conditions and as options.
void add_serving(const EvaluationManifest& manifest, WorkPiece& piece, CommandLine& line);

}  // namespace d5::detail
