// SPDX-License-Identifier: Apache-2.0
// Time to store a million samples of one record, a million queries, and 100,000 answers, durable
// when the call returns: in a file (SQLite, WAL, full sync) and on a separate PostgreSQL server
// (default settings except fsync, which the test server has off).
#include <benchmark/benchmark.h>

#include <string>

#include "d5/evaluation/database/evaluation_database.hpp"
#include "tests/postgresql_server.hpp"
#include "tests/temporary_folder.hpp"

namespace {

constexpr std::size_t kMillion = 1'000'000;

/// A new database, and a run in it.
class Kept {
 public:
  explicit Kept(bool on_server)
      : database_(d5::EvaluationDatabase::open(
            on_server ? d5::testing::PostgresqlServer::shared()->fresh() : folder_ / "kept.db")) {
    database_->evaluation({.id = "run", .environment = d5::environment()});
  }
  d5::EvaluationDatabase* operator->() { return database_.get(); }

 private:
  d5::testing::TemporaryFolder folder_;
  std::unique_ptr<d5::EvaluationDatabase> database_;
};

template <class Store>
void measure(benchmark::State& state, bool on_server, std::size_t count, const Store& store) {
  if (on_server && !d5::testing::PostgresqlServer::shared()) {
    state.SkipWithError(d5::testing::PostgresqlServer::why_absent().c_str());
    return;
  }
  for (auto _ : state) {
    state.PauseTiming();
    Kept database(on_server);
    state.ResumeTiming();
    store(database);
  }
  state.SetItemsProcessed(std::int64_t(count) * std::int64_t(state.iterations()));
}

void samples(benchmark::State& state, bool on_server) {
  d5::Measurement record{.subject = "lenet", .metric = "latency", .unit = "s"};
  for (std::size_t i = 0; i < kMillion; ++i)
    record.samples.push_back(1e-3 + 1e-9 * double(i % 977));
  const std::vector<d5::Measurement> records = {record};
  measure(state, on_server, kMillion,
          [&](Kept& database) { database->measurements("run", "piece", records); });
}

void queries(benchmark::State& state, bool on_server) {
  std::vector<d5::QueryRecord> queries(kMillion);
  for (std::int64_t i = 0; i < std::int64_t(kMillion); ++i) {
    const std::int64_t scheduled = 1'000'000'000 + 100'000 * i;
    queries[std::size_t(i)] = {.id = i,
                               .sample = i * 7919 % 5000,
                               .batch = 1,
                               .scheduled = scheduled,
                               .issued = scheduled + 90 + i % 13,
                               .begun = scheduled + 2000 + i % 101,
                               .ended = scheduled + 800'000 + i % 9973};
  }
  measure(state, on_server, kMillion,
          [&](Kept& database) { database->queries("run", "piece", queries); });
}

void answers(benchmark::State& state, bool on_server) {
  constexpr std::int64_t kAnswers = 100'000;
  std::vector<d5::SampleAnswer> answers;
  for (std::int64_t i = 0; i < kAnswers; ++i)
    answers.push_back({i, "tabby cat", double(i % 4 > 0)});
  measure(state, on_server, std::size_t(kAnswers),
          [&](Kept& database) { database->answers("run", "piece", answers); });
}

}  // namespace

BENCHMARK_CAPTURE(samples, sqlite, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(samples, postgresql, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(queries, sqlite, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(queries, postgresql, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(answers, sqlite, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(answers, postgresql, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_MAIN();
