// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/manifest/evaluation_manifest.hpp"

namespace d5 {

/// The evaluation that is named by its manifest's name or file, with "all" of its frameworks found;
/// or one called `name` of the models that are named, each asked by single_stream in the reference.
/// Throws: ValueError where nothing is named; as `find_manifest`.
[[nodiscard]] EvaluationManifest asked_evaluation(const std::vector<std::string>& what,
                                                  const std::string& name);

/// Replaces what `changes` give, a command line or a call: fields by their names, scenarios in
/// words, also cut short where only one begins so. The rest stays as the manifest has it.
///
///     change_evaluation(manifest, {{"scenarios", "poisson:rate=20"}, {"batches", "1,8"}});
///
/// Throws: NotFound for a name of no field, OptionError.
void change_evaluation(EvaluationManifest& manifest, const Settings& changes);

}  // namespace d5
