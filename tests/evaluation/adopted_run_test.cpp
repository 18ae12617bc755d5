// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "evaluation/database/sql_connection.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"

namespace d5 {
namespace {

using testing::AnyDatabase;
using testing::on_each_database;

TEST_CASE("a run is adopted under another id, whole and once") {
  on_each_database([](const AnyDatabase& any) {
    const testing::TemporaryFolder folder;
    const auto spool = EvaluationDatabase::open(folder / "spool.db");
    const std::string run = spool->add(testing::some_results());
    const auto database = any.open();
    for (int times = 0; times < 2; ++times) database->adopt(*spool, run, "part");
    REQUIRE(database->runs().size() == 1);
    CHECK(database->runs()[0].id == "part");
    CHECK(to_json(database->results("part")) == to_json(testing::some_results()));

    // Another attempt's results change nothing of it.
    Results others = testing::some_results();
    others.measurements.resize(1);
    database->adopt(*spool, spool->add(others), "part");
    CHECK(to_json(database->results("part")) == to_json(testing::some_results()));
  });
}

TEST_CASE("nothing of a run is adopted whose end is damaged") {
  on_each_database([](const AnyDatabase& any) {
    const testing::TemporaryFolder folder;
    const std::string file = folder / "spool.db";
    std::string run;
    {
      const auto spool = EvaluationDatabase::open(file);
      run = spool->add(testing::some_results());
      spool->answers(run, "one", {});
      const auto connection = detail::open_sqlite(file, {});
      connection->run("PRAGMA foreign_keys = OFF");
      connection->change(  // an invalid trace, after everything else
          "INSERT INTO piece (run, name, kind, number, count) VALUES ($1, 'z', 'trace', 999, 1)",
          {run});
    }
    const auto spool = EvaluationDatabase::open(file, {.access = EvaluationDatabase::Access::read});
    const auto database = any.open();
    CHECK_THROWS_AS(database->adopt(*spool, run, "part"), Error);
    CHECK(database->runs().empty());
    database->add(testing::some_results());  // what comes next is written as ever
    CHECK(database->runs().size() == 1);
  });
}

TEST_CASE("a spool with a column of another type than d5 writes, or too few rows, is refused") {
  const bool has_rows = GENERATE(true, false);
  const testing::TemporaryFolder folder;
  const std::string file = folder / "spool.db";
  std::string run;
  {
    const auto spool = EvaluationDatabase::open(file);
    run = spool->add(testing::some_results());
    const auto connection = detail::open_sqlite(file, {});
    connection->change(
        "INSERT INTO piece (run, name, kind, number, count) VALUES ($1, 'q', 'queries', 999, 1)",
        {run});
    if (has_rows) {
      connection->change(
          "INSERT INTO query_block (run, piece, block, count, records) VALUES ($1, 'q', 0, 1, 7)",
          {run});
    }
  }
  const auto spool = EvaluationDatabase::open(file, {.access = EvaluationDatabase::Access::read});
  const auto database = EvaluationDatabase::open(folder / "all.db");
  CHECK_THROWS_AS(database->adopt(*spool, run, "part"), FormatError);
  CHECK(database->runs().empty());
}

}  // namespace
}  // namespace d5
