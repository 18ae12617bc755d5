// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "evaluation/accuracy/mcnemar.hpp"
#include "evaluation/database/reading.hpp"

namespace d5 {
namespace {

using detail::integer_of;
using detail::SqlConnection;
using detail::SqlRow;
using detail::SqlTable;

/// A row per sample that either side answered. Parameters 1 to 4: A's run and piece, B's. It sorts
/// once, with any indices; a join would search all of one side for each sample of the other.
constexpr const char* kPairs =
    "FROM (SELECT sample, MAX(CASE WHEN side = 0 THEN answer END) AS a, MAX(CASE WHEN side = 1 "
    "THEN answer END) AS b, MAX(CASE WHEN side = 0 THEN score END) AS score_a, MAX(CASE WHEN side "
    "= 1 THEN score END) AS score_b, COUNT(CASE WHEN side = 0 THEN 1 END) AS of_a, COUNT(CASE WHEN "
    "side = 1 THEN 1 END) AS of_b FROM (SELECT 0 AS side, sample, answer, score FROM answer WHERE "
    "run = $1 AND piece = $2 UNION ALL SELECT 1 AS side, sample, answer, score FROM answer WHERE "
    "run = $3 AND piece = $4) AS told GROUP BY sample) AS pairs";

constexpr const char* kInBoth = "of_a > 0 AND of_b > 0";

/// SQL condition for a sample that one side has right; an answer without a score (NULL) is not
/// right.
std::string right_in(const char* score, const char* no = "") {
  return fmt::format("{} COALESCE({} >= {}, FALSE)", no, score, detail::kRightScore);
}
std::string flip(const char* right, const char* wrong) {
  return fmt::format("{} AND {} AND {}", kInBoth, right_in(right), right_in(wrong, "NOT"));
}

[[noreturn]] void refuse_twice(SqlConnection& connection, const SqlRow& which) {
  const SqlTable twice = connection.query(
      fmt::format("SELECT sample, of_a {} WHERE of_a > 1 OR of_b > 1 ORDER BY sample LIMIT 1",
                  kPairs),
      which);
  const SqlRow& row = twice.rows.at(0);
  throw ValueError(fmt::format("{} answers sample {} twice", integer_of(row.at(1)) > 1 ? "A" : "B",
                               integer_of(row.at(0))));
}

/// The first samples that one side has right and the other wrong.
void add_flips(SqlConnection& connection, const SqlRow& which, const std::string& condition,
               std::size_t most, std::vector<AnswerComparison::Flip>& flips) {
  const SqlTable table = connection.query(
      fmt::format("SELECT sample, a, b, score_a, score_b {} WHERE {} ORDER BY sample LIMIT {}",
                  kPairs, condition, most),
      which);
  for (const SqlRow& row : table.rows) {
    flips.push_back({integer_of(row[0]), detail::text_of(row[1]), detail::text_of(row[2]),
                     detail::number_of(row[3]), detail::number_of(row[4])});
  }
}

}  // namespace

AnswerComparison EvaluationDatabase::compare_answers(const StoredAnswers& a, const StoredAnswers& b,
                                                     std::size_t most_flips) const {
  const detail::Reading reading(*connection_);
  const SqlRow which = {a.run, a.piece, b.run, b.piece};
  const std::string in_a = flip("score_a", "score_b"), in_b = flip("score_b", "score_a");
  const auto count_if = [](const std::string& words) {
    return fmt::format("COUNT(CASE WHEN {} THEN 1 END)", words);
  };
  const SqlTable counts = connection_->query(
      fmt::format("SELECT COUNT(*), MAX(of_a), MAX(of_b), {}, {}, {}, {}, {} {}", count_if(kInBoth),
                  count_if(right_in("score_a") + " AND " + right_in("score_b")), count_if(in_a),
                  count_if(in_b), count_if("a = b"), kPairs),
      which);
  const auto count = [&](std::size_t column) { return integer_of(counts.rows.at(0).at(column)); };
  if (count(1) > 1 || count(2) > 1) refuse_twice(*connection_, which);
  AnswerComparison result;
  result.samples = count(3);
  result.both = count(4);
  result.only_a = count(5);
  result.only_b = count(6);
  result.neither = result.samples - result.both - result.only_a - result.only_b;
  result.same_answers = count(7);
  result.not_in_both = count(0) - result.samples;
  result.p_value = detail::mcnemar_p(result.only_a, result.only_b);
  if (result.only_a > 0) add_flips(*connection_, which, in_a, most_flips, result.flips);
  if (result.only_b > 0) add_flips(*connection_, which, in_b, most_flips, result.flips);
  std::ranges::sort(result.flips, {}, &AnswerComparison::Flip::sample);
  return result;
}

}  // namespace d5
