// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace d5::detail {

/// Final transform of a sample's scores in models of ai.onnx.ml, in the order of TreeEnsemble's
/// numbers.
enum class PostTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

/// Throws: ValueError for an unknown word or number.
[[nodiscard]] PostTransform post_transform(const std::string& word, std::string_view who);
[[nodiscard]] PostTransform post_transform(std::int64_t number, std::string_view who);

/// Transforms the scores in place. SOFTMAX_ZERO leaves zeros unchanged. A single score is
/// transformed like several.
void transform_scores(PostTransform transform, std::span<double> scores);

/// `transform_scores`; returns the index of the top class, the first of those that are equal in
/// float32. It has the largest score after the transform; among scores that are equal there by
/// rounding, the one that was the largest before.
[[nodiscard]] std::size_t transform_to_top(PostTransform transform, std::span<double> scores);

/// Converts the gradient of the transformed scores to that of the scores, in place.
void differentiate(PostTransform transform, const float* transformed, std::span<double> gradients);
/// Throws: Unsupported for transforms that `differentiate` does not support: SOFTMAX_ZERO, PROBIT.
void expect_slope(PostTransform transform, std::string_view who);

/// Meaning of a single score for two classes: the share of the second, with 1 - share for the
/// first; or a signed distance, with opposite signs.
enum class OneScore : std::uint8_t { share, signed_distance };

/// Expands a single score to two, for the transform. Transforms take signed distances, except
/// PROBIT, which takes shares.
/// Source: ONNX's reference implementation of TreeEnsembleClassifier.
void split_score(PostTransform transform, OneScore kind, std::span<double, 2> scores);

}  // namespace d5::detail
