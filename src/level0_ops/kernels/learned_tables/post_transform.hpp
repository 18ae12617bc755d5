// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace d5::detail {

/// What the models of ai.onnx.ml do last with the scores of one sample. In the order of the numbers
/// that TreeEnsemble gives them.
enum class PostTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

/// Throws: ValueError for any other word, or number.
[[nodiscard]] PostTransform post_transform(const std::string& word, std::string_view who);
[[nodiscard]] PostTransform post_transform(std::int64_t number, std::string_view who);

/// SOFTMAX_ZERO leaves scores of zero at zero. A single score is transformed as several are.
void transform_scores(PostTransform transform, std::span<double> scores);

/// The same; returns the place of the top class, the first of those that are equal in float32. It
/// has the largest score after the transform, too; of those that are equal by rounding there, the
/// one whose score was the largest before.
[[nodiscard]] std::size_t transform_to_top(PostTransform transform, std::span<double> scores);

/// Makes the gradient of what scores became, `transformed`, that of the scores.
void differentiate(PostTransform transform, const float* transformed, std::span<double> gradients);
/// Throws: Unsupported for transforms that `differentiate` does not know: SOFTMAX_ZERO, PROBIT.
void expect_slope(PostTransform transform, std::string_view who);

/// How one score tells of two classes: of the second, with what is left to 1 for the first, or of
/// either, with opposite signs.
enum class OneScore : std::uint8_t { share, signed_distance };

/// Makes `scores[1]` two, to be transformed. What is transformed is a distance, whatever its kind,
/// but for PROBIT, which takes shares.
/// Source: ONNX's reference implementation of TreeEnsembleClassifier.
void split_score(PostTransform transform, OneScore kind, std::span<double, 2> scores);

}  // namespace d5::detail
