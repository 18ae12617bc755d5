// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// Losses of a generator on the texts that its manifest claims some for, a record "loss" each. The
/// reference in float64 is the judge: its loss is held against the claim, and the framework's
/// against its own, by what rounding explains. A claim that is missed is a fault of the model.
/// Throws: what opening throws.
[[nodiscard]] std::vector<Measurement> run_losses(EvaluatedModel& model, std::int64_t batch);

/// Most answers that are judged of a run: each goes through the reference in float64.
inline constexpr std::size_t kMostJudged = 8;
/// Adds the record "regret" of the answers that a generator gave since its system was made, or of
/// `kMostJudged` drawn by `seed`. Equal answers to equal prompts are one. Returns why they are not
/// right, or not judged; empty if they are right, and for a model that is no generator.
[[nodiscard]] std::string add_regret(EvaluatedModel& model, const EvaluationManifest& manifest,
                                     std::uint64_t seed, const Measurement& record,
                                     std::vector<Measurement>& records);

}  // namespace d5::detail
