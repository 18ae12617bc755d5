// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/run/evaluate.hpp"
#include "d5/serving/jobs/job.hpp"

namespace d5 {

/// The request for an evaluation: its canonical text with all that it names, its key, and as
/// constraints the frameworks that it needs, in versions that its models support, and the
/// requirements of its system, if it names one. Throws: FormatError if models exclude each other's
/// versions of a framework.
[[nodiscard]] JobRequest job_request(const FixedEvaluation& evaluation);

/// The same for a text from a network: a manifest of an evaluation (YAML or JSON), whose names are
/// those of built-in manifests, or `FixedEvaluation::canonical`, which contains everything but data
/// sets. It may name no path and no code.
///
///     queue->submit(job_request(body, "the request"));
///
/// Throws: FormatError with all faults, one per line (`who` is its name there); NotFound and
/// ValueError for what it names.
[[nodiscard]] JobRequest job_request(const std::string& manifest, const std::string& who);

}  // namespace d5
