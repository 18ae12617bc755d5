// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/run/evaluate.hpp"

namespace d5 {

/// An evaluation with every digest written down: of models, their files, data sets, frameworks with
/// their versions and plug-ins, and of d5 itself. JSON; format: docs/reference/file_formats.md,
/// "Lock".
///
///     write_file("e.lock.json", evaluation_lock(fix_evaluation(manifest)));
///     const FixedEvaluation same = locked_evaluation("e.lock.json");
///
/// Throws: NotFound, Unsupported for a framework that is not there; IoError.
[[nodiscard]] std::string evaluation_lock(const FixedEvaluation& evaluation);

/// The evaluation that a lock holds, if all is as it was when it was locked.
/// Throws: ValueError with everything that is another now, each with both digests; FormatError for
/// what is no lock; what `fix_evaluation` and `evaluation_lock` throw.
[[nodiscard]] FixedEvaluation locked_evaluation(const std::string& file);

}  // namespace d5
