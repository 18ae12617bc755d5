// SPDX-License-Identifier: Apache-2.0
// Two runs' answers held against each other where they lie, and not in memory.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/evaluation/analysis/stored_runs.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"
#include "tests/sanitizers.hpp"

using namespace d5;
using Catch::Contains;
using testing::AnyDatabase;
using testing::on_each_database;

namespace {

void keep(EvaluationDatabase& database, const std::string& run,
          const std::vector<SampleAnswer>& answers) {
  EvaluationRun told;
  told.id = run;
  told.environment = testing::an_environment();
  database.evaluation(told);
  database.answers(run, "accuracy", answers);
}

/// The most memory that `work` held beside what was held before; 0 where nobody counts it.
template <class Work>
double most_bytes(const Work& work) {
  const auto peak = metrics().at("peak_memory").make();
  peak->begin(1);
  peak->end();
  peak->begin(1);
  work();
  peak->end();
  Measurement record;
  peak->summarise(record);
  if (record.samples.size() == 2) return record.samples[1] - record.samples[0];
  WARN(record.reason);
  return 0;
}

}  // namespace

TEST_CASE("answers in a database are compared as those in memory, and the first flips told") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    std::mt19937 random(7);
    std::vector<SampleAnswer> a, b;
    const std::vector<double> scores = {0, 0.25, 0.5, 1, std::nan("")};
    for (std::int64_t sample = 0; sample < 400; ++sample) {
      const auto answered = [&] {
        return SampleAnswer{sample, random() % 2 ? "cat" : "dog", scores[random() % scores.size()]};
      };
      if (sample % 11 != 0) a.push_back(answered());
      if (sample % 7 != 0) b.insert(b.begin(), answered());  // in another order
    }
    keep(*database, "aaaa", a);
    keep(*database, "bbbb", b);
    const AnswerComparison expected = compare_answers(a, b);
    REQUIRE(expected.only_a > 5);
    REQUIRE(expected.only_b > 5);
    const auto found = compare_stored_answers(*database, "aa", "bb");
    REQUIRE(found.size() == 1);
    const auto same_counts = [&](const AnswerComparison& one) {
      CHECK(one.samples == expected.samples);
      CHECK(one.both == expected.both);
      CHECK(one.only_a == expected.only_a);
      CHECK(one.only_b == expected.only_b);
      CHECK(one.neither == expected.neither);
      CHECK(one.same_answers == expected.same_answers);
      CHECK(one.not_in_both == expected.not_in_both);
      CHECK(one.p_value == expected.p_value);
    };
    same_counts(found[0].comparison);
    CHECK(found[0].comparison.right_in_a_alone() == expected.right_in_a_alone());
    CHECK(found[0].comparison.right_in_b_alone() == expected.right_in_b_alone());
    CHECK(found[0].comparison.flips.at(3).a == expected.flips.at(3).a);
    CHECK(found[0].comparison.flips.at(3).b == expected.flips.at(3).b);

    const auto few = database->compare_answers({"aaaa", "accuracy"}, {"bbbb", "accuracy"}, 5);
    same_counts(few);
    auto first = expected.right_in_a_alone();
    first.resize(5);
    CHECK(few.right_in_a_alone() == first);
    CHECK(few.right_in_b_alone().size() == 5);
    const std::vector<NamedAnswerComparison> named = {{"accuracy", few}};
    CHECK_THAT(to_table(named).rows().at(0).back(), Contains("..."));
    CHECK(database->compare_answers({"aaaa", "none"}, {"bbbb", "accuracy"}, 5).not_in_both ==
          std::int64_t(b.size()));

    a.push_back(a.front());
    keep(*database, "cccc", a);
    CHECK_THROWS_WITH(database->compare_answers({"bbbb", "accuracy"}, {"cccc", "accuracy"}, 5),
                      "B answers sample 1 twice");
  });
}

TEST_CASE("comparing answers takes no memory for those that did not flip") {
  const testing::TemporaryFolder folder;
  const auto database = EvaluationDatabase::open(folder / "long.db");
  constexpr std::int64_t kSamples = 8'000;
  constexpr std::size_t kBytes = 4'000;  // 64 MB of answers in all
  for (const char* run : {"aaaa", "bbbb"}) {
    std::vector<SampleAnswer> answers;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      answers.push_back({i, std::string(kBytes, 'x'), i == 9 && run[0] == 'a' ? 0. : 1.});
    }
    keep(*database, run, answers);
  }
  AnswerComparison found;
  [[maybe_unused]] const double bytes = most_bytes(
      [&] { found = compare_stored_answers(*database, "aaaa", "bbbb").at(0).comparison; });
  CHECK(found.both == kSamples - 1);
  CHECK(found.same_answers == kSamples);
#ifndef D5_UNDER_ADDRESS_SANITIZER                 // it keeps what is freed
  CHECK(bytes < 0.5 * double(kSamples * kBytes));  // half of one run's answers
#endif
}
