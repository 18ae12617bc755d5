// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/run/evaluate.hpp"

namespace d5 {

/// A lock file of an evaluation, with every digest: of models, their files, data sets, frameworks
/// with their versions and plug-ins, and of d5 itself. JSON; format:
/// docs/reference/file_formats.md, "Lock".
///
///     write_file("e.lock.json", evaluation_lock(fix_evaluation(manifest)));
///     const FixedEvaluation same = locked_evaluation("e.lock.json");
///
/// Throws: NotFound, Unsupported for a missing framework; IoError.
[[nodiscard]] std::string evaluation_lock(const FixedEvaluation& evaluation);

/// The evaluation of a lock file, if nothing has changed since it was locked. Throws: ValueError
/// with everything that changed, each with both digests; FormatError if it is no lock file; what
/// `fix_evaluation` and `evaluation_lock` throw.
[[nodiscard]] FixedEvaluation locked_evaluation(const std::string& file);

}  // namespace d5
