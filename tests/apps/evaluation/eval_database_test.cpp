// SPDX-License-Identifier: Apache-2.0
// Results of d5 eval in its file and in its database, each by itself.
#include <string>

#include "d5/core/results/results.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::ToyEvaluation;

TEST_CASE("a results file on a full disk leaves the database whole") {
  const ToyEvaluation toy;
  const std::string what = "eval run " + toy.model() +
                           " --framework null:output=means:classes=3 --no-accuracy --scenario "
                           "batched --batch 1,2,3 --queries 50 --isolate 0 ";
  const std::string address = toy / "x.db";
  const auto full = run_d5(what + "--out /dev/full --database " + address);
  CHECK(full.status == 2);
  CHECK_THAT(full.err, Contains("/dev/full") && Contains("kept as run"));
  {
    const auto database = d5::EvaluationDatabase::open(address);
    const auto runs = database->runs();
    REQUIRE(runs.size() == 1);
    CHECK(database->pieces(runs[0].id).size() == 6);  // queries and records of three cells
  }
}

TEST_CASE("an evaluation goes to the database that D5_DATABASE names, as its readers look there") {
  const ToyEvaluation toy;
  const std::string env = "env D5_DATABASE=" + (toy / "named.db");
  const std::string what = "eval run " + toy.model() +
                           " --framework null:output=means:classes=3 --scenario closed_loop "
                           "--no-accuracy --queries 50 ";
  const auto run = run_d5(what, env);
  CHECK(run.status == 0);
  CHECK_THAT(run.err, Contains("kept as run"));
  CHECK_THAT(run_d5("eval history --format csv", env).out, Contains("toy"));
  CHECK(run_d5(what + "--database " + (toy / "given.db"), env).status == 0);
  CHECK(d5::EvaluationDatabase::open(toy / "given.db")->runs().size() == 1);
  CHECK(d5::EvaluationDatabase::open(toy / "named.db")->runs().size() == 1);
  CHECK_THAT(run_d5(what + "--list", env).out, Contains("closed_loop"));
  CHECK(run_d5(what + "--resume", env).status == 2);  // nothing to go on from
  const auto peak =
      run_d5("eval find-peak " + toy.model() +
                 " --framework null:output=means:classes=3 --slo 'p50<=5s' --scenario "
                 "constant --queries 20 --first-rate 100 --highest-rate 100",
             env);
  CHECK_THAT(peak.err, Contains("kept as run"));
  CHECK(d5::EvaluationDatabase::open(toy / "named.db")->runs().size() == 2);
}
