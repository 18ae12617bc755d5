// SPDX-License-Identifier: Apache-2.0
// Rows are read back to the bit, and exist once, with SQLite and PostgreSQL alike.
#include "d5/evaluation/database/evaluation_database.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "evaluation/database/sql_connection.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"
#include "tests/evaluation/sample_run.hpp"

using namespace d5;
using Catch::Contains;
using testing::a_latency;
using testing::a_run;
using testing::AnyDatabase;
using testing::kKey;
using testing::on_each_database;
using testing::some_queries;

TEST_CASE("a results file comes back to the bit, and as one run however often it is added") {
  on_each_database([](const AnyDatabase& any) {
    const Results results = testing::some_results();
    std::string id;
    for (int times = 0; times < 3; ++times) id = any.open()->add(results);
    const auto database = any.open(EvaluationDatabase::Access::read);
    CHECK(database->runs().size() == 1);
    CHECK(database->runs().front().records == std::int64_t(results.measurements.size()));
    CHECK(to_json(database->results(id)) == to_json(results));
  });
}

TEST_CASE("a run of many pieces has them by their names") {
  on_each_database([](const AnyDatabase& any) {
    Results results = testing::some_results();
    const std::size_t all = results.measurements.size();
    REQUIRE(all > 3);
    results.run = PiecewiseRun{"--samples 3", {{"second", 2}, {"first", 1}}};
    const auto database = any.open();
    const std::string id = database->add(results);
    const auto pieces = database->pieces(id);
    REQUIRE(pieces.size() == 3);
    CHECK(pieces[0].name == "second");
    CHECK(pieces[1].count == 1);
    CHECK(pieces[2].name == "results");
    CHECK(pieces[2].count == std::int64_t(all) - 3);
    CHECK(database->results(id).measurements.size() == all);
  });
}

TEST_CASE("numbers that have no digits come back, too") {
  on_each_database([](const AnyDatabase& any) {
    Measurement record = a_latency("odd", "reference", 1);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    record.samples = {-0.0, kInfinity, -kInfinity, 5e-324, 1.7976931348623157e308};
    Measurement nan = record;
    nan.samples = {std::nan("")};
    const auto database = any.open();
    database->evaluation(a_run());
    const std::vector<Measurement> both = {record, nan};
    database->measurements(a_run().id, "p", both);
    const auto stored =
        database->measurements({.subject = "odd"}, EvaluationDatabase::Samples::with);
    REQUIRE(stored.size() == 2);
    CHECK(stored[0].record.samples == record.samples);
    CHECK(std::signbit(stored[0].record.samples[0]));
    CHECK(std::isnan(stored[1].record.samples.at(0)));
    CHECK(std::isnan(stored[1].estimate.value));
    CHECK(stored[0].estimate.value == 5e-324);  // the median
  });
}

TEST_CASE("queries, answers and traces come back, a run with all of its pieces") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    const std::string run = a_run().id;
    database->evaluation(a_run());
    const auto queries = some_queries(150'000);  // more than two blocks
    const std::vector<SampleAnswer> answers = {
        {3, "cat", 1}, {1, "dog", 0}, {2, "{\"a\": 1}", 0.5}};
    Timeline timeline;
    timeline.ranks.push_back({.rank = 0, .host = "host"});
    timeline.records.push_back(
        {.rank = 0, .lane = 0, .id = 1, .begin_ns = 5, .end_ns = 9, .level = "model", .name = "n"});
    database->queries(run, "torch, server", queries);
    database->answers(run, "torch, server", answers);
    database->trace(run, "torch, server", timeline);
    const std::vector<Measurement> records = {a_latency("lenet", "torch", 1e-3)};
    database->measurements(run, "torch, server", records);

    CHECK(database->queries(run, "torch, server") == queries);
    const auto read = database->answers(run, "torch, server");
    REQUIRE(read.size() == 3);
    CHECK(read[2].sample == 2);
    CHECK(read[2].answer == "{\"a\": 1}");
    CHECK(read[2].score == 0.5);
    CHECK(to_json(database->trace(run, "torch, server")) == to_json(timeline));
    CHECK(database->run(run).manifest == "{}");
    CHECK(database->run(run).key == kKey);
    const auto pieces = database->pieces(run);
    REQUIRE(pieces.size() == 4);
    CHECK(pieces[0].kind == "queries");
    CHECK(pieces[0].count == 150'000);
    CHECK(pieces[3].kind == "measurements");
    CHECK(database->queries(run, "another").empty());
    CHECK_THROWS_AS(database->trace(run, "another"), NotFound);
  });
}

TEST_CASE(
    "a file that waits for no disk has all tables from its first byte, and is read as any other") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "new/spool.db",
                    tables = "SELECT sql FROM sqlite_master ORDER BY name, type";
  CHECK_THROWS_WITH(EvaluationDatabase::open(file), Catch::Contains("there is no folder"));
  std::filesystem::create_directory(folder / "new");
  (void)EvaluationDatabase::open("unsynced:" + file)->add(testing::some_results());
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "new"), {}) == 1);  // no journal
  const auto added = EvaluationDatabase::open("unsynced:" + file)->runs();
  REQUIRE(added.size() == 1);
  const auto usual = EvaluationDatabase::open(folder / "usual.db");
  const auto read = EvaluationDatabase::open(file, {.access = EvaluationDatabase::Access::read});
  CHECK(read->sql(tables).rows() == usual->sql(tables).rows());
  usual->adopt(*read, added[0].id, "other");
  CHECK(usual->results("other").measurements.size() == testing::some_results().measurements.size());
}

TEST_CASE("a piece that is written twice is there once, as it was the first time") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    const std::string run = a_run().id;
    const std::vector<Measurement> first = {a_latency("lenet", "torch", 1e-3)};
    const std::vector<Measurement> second = {a_latency("lenet", "torch", 5e-3), first.front()};
    for (int times = 0; times < 2; ++times) {
      database->evaluation(a_run());
      database->measurements(run, "p", times == 0 ? first : second);
      database->queries(run, "p", some_queries(times + 1));
      database->answers(run, "p", std::vector<SampleAnswer>(std::size_t(times) + 1));
      database->trace(run, "p", {});
    }
    CHECK(database->runs().size() == 1);
    const auto stored = database->measurements({});
    REQUIRE(stored.size() == 1);
    CHECK(stored.front().estimate.value == estimate(first.front()).value);
    CHECK(database->queries(run, "p").size() == 1);
    CHECK(database->answers(run, "p").size() == 1);
    CHECK(database->pieces(run).size() == 4);
  });
}

TEST_CASE("a piece of a run that was never told is refused") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    const std::vector<Measurement> records = {a_latency("lenet", "torch", 1e-3)};
    CHECK_THROWS_AS(database->measurements("nobody", "p", records), NotFound);
    CHECK(database->measurements({}).empty());
    database->evaluation(a_run());  // the connection is as good as before
    CHECK_NOTHROW(database->measurements(a_run().id, "p", records));
  });
}

TEST_CASE("words of all kinds are words, not SQL") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    const std::vector<std::string> words = {"'); DROP TABLE run; --", "\"quoted\" \\back\\slash",
                                            "tab\tline\nreturn\r", "$1 %s _ * \\N \\.",
                                            "\xE2\x82\xAC \xF0\x9F\x98\x80"};
    std::vector<Measurement> records;
    for (const auto& word : words) {
      records.push_back(a_latency(word, word, 1));
      records.back().conditions[word] = identity(word);
      records.back().command = word;
    }
    EvaluationRun run = a_run();
    run.command = words[0];
    database->evaluation(run);
    database->measurements(run.id, words[2], records);
    std::vector<SampleAnswer> answers;
    for (const auto& word : words) answers.push_back({1, word, 1});
    database->answers(run.id, words[2], answers);
    const auto stored = database->measurements({});
    REQUIRE(stored.size() == words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      CAPTURE(words[i]);
      CHECK(stored[i].record.subject == words[i]);
      CHECK(stored[i].record.conditions.at(words[i]) == words[i]);
      CHECK(stored[i].piece == words[2]);
      CHECK(database->answers(run.id, words[2])[i].answer == words[i]);
    }
    CHECK(database->measurements({.subject = words[0]}).size() == 1);
    CHECK(database->measurements({.framework = "\"quoted\" \\back*"}).size() == 1);
  });
}

TEST_CASE("bytes that are no text are replaced, not refused") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    EvaluationRun run = a_run();
    run.command = std::string("a\0b\xFF", 4);
    database->evaluation(run);
    const std::vector<Measurement> records = {a_latency("x\xC3", "torch", 1)};
    database->measurements(run.id, "p", records);
    CHECK(database->measurements({}).at(0).record.subject == "x\xEF\xBF\xBD");
    CHECK(database->run(run.id).command == "ab\xEF\xBF\xBD");
  });
}

TEST_CASE("records are found by what they say, runs by their records") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    for (int i = 0; i < 3; ++i) {
      EvaluationRun run = a_run(std::string(31, '0') + std::to_string(i));
      run.environment.time = "2026-11-0" + std::to_string(i + 1) + "T00:00:00Z";
      if (i == 2) run.environment.hostname = "other";
      if (i == 2) run.key.clear();
      database->evaluation(run);
      std::vector<Measurement> records = {a_latency("lenet@1.0.0", "torch", 1e-3),
                                          a_latency("lenet@1.1.0", "reference", 2e-3)};
      if (i == 1) records[0].status = Status::failed, records[0].reason = "slow";
      if (i == 2) records[0].metric = "throughput", records.pop_back();
      if (i == 2) records[0].artefacts[0].sha256 = std::string(64, 'b');
      database->measurements(run.id, "p", records);
    }
    const auto count = [&](const RecordFilter& filter) {
      return database->measurements(filter).size();
    };
    CHECK(count({}) == 5);
    CHECK(count({.subject = "lenet@1.0.0"}) == 3);
    CHECK(count({.subject = "lenet@*"}) == 5);
    CHECK(count({.subject = "lenet"}) == 0);
    CHECK(count({.framework = "torch", .metric = "latency"}) == 2);
    CHECK(count({.status = "failed"}) == 1);
    CHECK(count({.hostname = "other"}) == 1);
    CHECK(count({.since = "2026-11-02"}) == 3);
    CHECK(count({.until = "2026-11-02"}) == 2);
    CHECK(count({.key = "44136f"}) == 4);
    CHECK(count({.artefact = "bbbb"}) == 1);
    CHECK(database->runs().front().id.back() == '2');  // the newest
    CHECK(database->runs({.framework = "reference"}).size() == 2);
    CHECK(database->runs({.status = "failed"}).at(0).not_passed == 1);
    CHECK(database->runs().size() == 3);
    const RecordFilter filter{.framework = "reference", .hostname = "h*", .since = "2026-11-01"};
    const auto newer = database->runs(filter, {"", 1});
    const auto older = database->runs(filter, {newer.next, 1});
    CHECK(newer.items.at(0).id.back() == '1');
    CHECK(older.items.at(0).id.back() == '0');
    CHECK(older.items.at(0).records == 1);  // counts those that the filter selects
    CHECK(older.next.empty());
    CHECK(database->run_id(std::string(31, '0') + "1").back() == '1');
    CHECK_THROWS_WITH(database->run_id("0"), Contains("several runs"));
    CHECK_THROWS_WITH(database->run_id("f"), Contains("no run 'f'"));
    const auto systems = database->sql("SELECT COUNT(*) AS n FROM system");
    CHECK(systems.rows().at(0).at(0) == "2");
  });
}

TEST_CASE("a run moves from one database to another, whichever they are") {
  on_each_database([](const AnyDatabase& from) {
    on_each_database([&](const AnyDatabase& to) {
      const auto source = from.open(), target = to.open();
      source->evaluation(a_run());
      const std::vector<Measurement> records = {a_latency("lenet", "torch", 1e-3)};
      const std::vector<SampleAnswer> answers(10'001,
                                              {3, "cat", 1});  // more than is copied at once
      source->answers(a_run().id, "b", answers);
      for (const std::string piece : {"b", "a"}) {
        source->queries(a_run().id, piece, some_queries(70'000));  // two blocks
        source->measurements(a_run().id, piece, records);
      }
      for (int times = 0; times < 2; ++times) target->copy_from(*source, a_run().id);
      CHECK(to_json(target->results(a_run().id)) == to_json(source->results(a_run().id)));
      CHECK(target->queries(a_run().id, "b") == some_queries(70'000));
      CHECK(target->answers(a_run().id, "b").size() == answers.size());
      CHECK(target->pieces(a_run().id).size() == 5);
      CHECK(target->measurements({}).at(0).piece == "b");  // in the order written
    });
  });
}

TEST_CASE("SQL reads, and only reads") {
  on_each_database([](const AnyDatabase& any) {
    any.open()->add(testing::some_results());
    const auto database = any.open(EvaluationDatabase::Access::read);
    const TextTable table =
        database->sql("SELECT subject, samples FROM measurement WHERE count = 1");
    CHECK(table.columns().at(0).title == "subject");
    CHECK(table.rows().at(0).at(1) == "(8 bytes)");
    for (const std::string statement :
         {"DELETE FROM run", "UPDATE run SET time = ''", "DROP TABLE measurement",
          "CREATE TABLE mine (x TEXT)", "INSERT INTO schema_version VALUES (9, 'x', 'y')"}) {
      CAPTURE(statement);
      CHECK_THROWS_AS(database->sql(statement), Error);
    }
    CHECK_THROWS_AS(database->sql("SELECT nonsense FROM run"), ValueError);
    CHECK_THROWS_AS(database->sql("SELECT 1; SELECT 2"), ValueError);
    // A reader stops by an exception, and the database is usable afterwards.
    int rows = 0;
    const std::string endless =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000) "
        "SELECT x FROM n";
    const auto few = [&](const std::vector<std::string>&) {
      if (++rows == 3) throw IoError("enough");
    };
    CHECK_THROWS_WITH(database->sql(endless, [](const auto&) {}, few), "enough");
    CHECK(rows == 3);
    CHECK(database->runs().size() == 1);
  });
}

TEST_CASE("the database refuses to change rows") {
  on_each_database([](const AnyDatabase& any) {
    any.open()->add(testing::some_results());
    const bool is_file = any.kind == "a file";
    const auto connection =
        is_file ? detail::open_sqlite(any.address, {}) : detail::open_postgresql(any.address, {});
    for (const std::string table : {"run", "measurement", "system", "piece"}) {
      CAPTURE(table);
      const std::string column = table == "piece" ? "name" : table == "measurement" ? "run" : "id";
      CHECK_THROWS_WITH(connection->run("DELETE FROM " + table), Contains("are never changed"));
      CHECK_THROWS_WITH(connection->run("UPDATE " + table + " SET " + column + " = 'x'"),
                        Contains("are never changed"));
    }
  });
}
