// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/accuracy/answer_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"
#include "evaluation/accuracy/mcnemar.hpp"

namespace d5 {
namespace {

constexpr double kRight = detail::kRightScore;

std::map<std::int64_t, const SampleAnswer*> by_sample(std::span<const SampleAnswer> answers,
                                                      const char* who) {
  std::map<std::int64_t, const SampleAnswer*> places;
  for (const SampleAnswer& answer : answers) {
    if (places.emplace(answer.sample, &answer).second) continue;
    throw ValueError(fmt::format("{} answers sample {} twice", who, answer.sample));
  }
  return places;
}

std::vector<std::int64_t> samples_right_by(const AnswerComparison& comparison,
                                           double AnswerComparison::Flip::* score) {
  std::vector<std::int64_t> samples;
  for (const auto& flip : comparison.flips) {
    if (flip.*score >= kRight) samples.push_back(flip.sample);
  }
  return samples;
}

/// The word of the first class of an answer; empty where it has none.
std::string first_label(const std::string& answer) {
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  if (!json.is_object() || !json.contains("labels")) return "";
  const auto& labels = json["labels"];
  if (!labels.is_array() || labels.empty() || !labels[0].is_string()) return "";
  return labels[0].get<std::string>();
}

/// Samples that one has right, each with what the other, `wrong`, says in place of it; `all` is how
/// many there are.
std::string samples_text(const AnswerComparison& comparison,
                         const std::vector<std::int64_t>& samples, std::int64_t all,
                         std::string AnswerComparison::Flip::* wrong) {
  constexpr std::size_t kMost = 20, kMostWithWords = 6;
  std::size_t most = kMost;
  std::vector<std::string> words;
  for (const auto& flip : comparison.flips) {
    if (words.size() >= most || !std::ranges::binary_search(samples, flip.sample)) continue;
    const std::string label = first_label(flip.*wrong);
    if (!label.empty()) most = kMostWithWords;
    words.push_back(std::to_string(flip.sample) +
                    (label.empty() ? "" : fmt::format(" (not {})", printable(label))));
  }
  return fmt::format("{}{}", fmt::join(words, " "), std::int64_t(words.size()) < all ? " ..." : "");
}

}  // namespace

std::vector<std::int64_t> AnswerComparison::right_in_a_alone() const {
  return samples_right_by(*this, &Flip::score_a);
}
std::vector<std::int64_t> AnswerComparison::right_in_b_alone() const {
  return samples_right_by(*this, &Flip::score_b);
}

double detail::mcnemar_p(std::int64_t only_a, std::int64_t only_b) {
  if (only_a + only_b == 0) return 1;
  const boost::math::binomial_distribution<double> even(double(only_a + only_b), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(even, double(std::min(only_a, only_b))));
}

AnswerComparison compare_answers(std::span<const SampleAnswer> a, std::span<const SampleAnswer> b) {
  const auto of_a = by_sample(a, "A"), of_b = by_sample(b, "B");
  AnswerComparison result;
  for (const auto& [sample, one] : of_a) {
    const auto place = of_b.find(sample);
    if (place == of_b.end()) continue;
    const SampleAnswer& other = *place->second;
    const bool right = one->score >= kRight, other_right = other.score >= kRight;
    ++result.samples;
    ++(right         ? other_right ? result.both : result.only_a
       : other_right ? result.only_b
                     : result.neither);
    result.same_answers += one->answer == other.answer ? 1 : 0;
    if (right != other_right) {
      result.flips.push_back({sample, one->answer, other.answer, one->score, other.score});
    }
  }
  result.not_in_both = std::int64_t(of_a.size() + of_b.size()) - 2 * result.samples;
  result.p_value = detail::mcnemar_p(result.only_a, result.only_b);
  return result;
}

TextTable to_table(std::span<const NamedAnswerComparison> comparisons) {
  using enum TextTable::Align;
  TextTable table({"answers",
                   {"right in both", right},
                   {"wrong in both", right},
                   {"A alone right", right},
                   {"B alone right", right},
                   {"not in both", right},
                   {"McNemar's p", right},
                   "samples of A alone",
                   "samples of B alone"});
  for (const auto& [name, one] : comparisons) {
    table.add({name, std::to_string(one.both), std::to_string(one.neither),
               std::to_string(one.only_a), std::to_string(one.only_b),
               one.not_in_both > 0 ? std::to_string(one.not_in_both) : "",
               fmt::format("{:.2g}", one.p_value),
               samples_text(one, one.right_in_a_alone(), one.only_a, &AnswerComparison::Flip::b),
               samples_text(one, one.right_in_b_alone(), one.only_b, &AnswerComparison::Flip::a)});
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace d5
