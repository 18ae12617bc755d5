// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/run/evaluate.hpp"
#include "d5/serving/jobs/job.hpp"

namespace d5 {

/// What is asked of a server for an evaluation: its canonical text with all that it names, its key,
/// and as constraints the frameworks that it needs, in the versions that its models will do with,
/// and what its system has, where it names one. Throws: FormatError for a model whose versions of a
/// framework exclude another's.
[[nodiscard]] JobRequest job_request(const FixedEvaluation& evaluation);

/// The same for what came over a network: a manifest of an evaluation (YAML or JSON), whose names
/// are those of manifests that d5 carries, or `FixedEvaluation::canonical`, which has all but data
/// sets in it. It may name no path and no code.
///
///     queue->submit(job_request(body, "the request"));
///
/// Throws: FormatError with all faults, a line each (`who` is its name there); NotFound and
/// ValueError for what it names.
[[nodiscard]] JobRequest job_request(const std::string& manifest, const std::string& who);

}  // namespace d5
