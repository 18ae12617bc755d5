// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/manifest/evaluation_manifest.hpp"

namespace d5 {

/// The evaluation of a manifest's name or file, with "all" of its frameworks resolved; or an
/// evaluation called `name` of the named models, each under single_stream in the reference. Throws:
/// ValueError if nothing is named; as `find_manifest`.
[[nodiscard]] EvaluationManifest asked_evaluation(const std::vector<std::string>& what,
                                                  const std::string& name);

/// Applies the changes of a command line or a call: fields by name, scenarios in words, whose names
/// may be cut short if they stay unique. All other fields stay as the manifest has them.
///
///     change_evaluation(manifest, {{"scenarios", "poisson:rate=20"}, {"batches", "1,8"}});
///
/// Throws: NotFound for an unknown field, OptionError.
void change_evaluation(EvaluationManifest& manifest, const Settings& changes);

}  // namespace d5
