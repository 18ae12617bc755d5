// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "d5/evaluation/run/asked_evaluation.hpp"
#include "d5/evaluation/run/evaluate.hpp"

namespace d5::python {

// One function per file of this folder.
void bind_evaluate(py::module_& m);
void bind_evaluation_lock(py::module_& m);
void bind_find_peak(py::module_& m);
void bind_answer_audit(py::module_& m);
void bind_choice(py::module_& m);
void bind_described_folder(py::module_& m);
void bind_described_model(py::module_& m);
void bind_database(py::module_& m);
void bind_scenario(py::module_& m);
void bind_analysis(py::module_& m);

/// A manifest as a dict, or the words that name one.
using Manifest = std::variant<Values, std::vector<std::string>, Path>;
[[nodiscard]] EvaluationManifest manifest_of(const Manifest& what);
/// The evaluation with the call's changes applied, and all names resolved.
[[nodiscard]] FixedEvaluation fixed_evaluation(EvaluationManifest manifest,
                                               const Settings& changes);
/// Reads fields of an evaluation from keywords.
[[nodiscard]] Settings changes_of(const Options& keywords, const std::string& who);

}  // namespace d5::python
