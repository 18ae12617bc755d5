// SPDX-License-Identifier: Apache-2.0
// Query rate and lag of load generators:
//
//     bench_load_generators [--rounds 15]
//
// Measures d5's generators on a system that answers at once; MLPerf's LoadGen through d5's adapter,
// compared with LoadGen on an empty system, in turns; the lag of both at 1,000 queries per second;
// and latencies of one system by both. Medians with 95% intervals.
#include <fmt/format.h>
#include <mlperf_loadgen/loadgen.h>
#include <mlperf_loadgen/query_sample_library.h>
#include <mlperf_loadgen/system_under_test.h>
#include <mlperf_loadgen/test_settings.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/command_line.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/evaluation/load/query_summary.hpp"

namespace {

using namespace d5;

/// Answers at once, or after a delay.
class Answering final : public SystemUnderTest {
 public:
  explicit Answering(double seconds = 0) : seconds_(seconds) {}
  std::string name() const override { return "null"; }
  std::int64_t samples() const override { return 1024; }
  void issue(std::span<const Query> queries) override {
    if (seconds_ > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    answers_.clear();
    for (const Query& query : queries) answers_.push_back({.id = query.id});
    complete(answers_);
  }

 private:
  double seconds_;
  std::vector<QueryAnswer> answers_;
};

/// The smallest system and library that LoadGen accepts.
class NullSystem final : public mlperf::SystemUnderTest, public mlperf::QuerySampleLibrary {
 public:
  const std::string& Name() override { return name_; }
  void IssueQuery(const std::vector<mlperf::QuerySample>& samples) override {
    ends_.clear();
    for (const auto& sample : samples) ends_.emplace_back(sample.id, 0, 0);
    mlperf::QuerySamplesComplete(ends_.data(), ends_.size());
  }
  void FlushQueries() override {}
  size_t TotalSampleCount() override { return 1024; }
  size_t PerformanceSampleCount() override { return 1024; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>&) override {}
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>&) override {}

 private:
  std::string name_ = "null";
  std::vector<mlperf::QuerySampleResponse> ends_;
};

/// Queries per second in LoadGen's summary.
double told_rate(const std::string& logs) {
  std::ifstream summary(logs + "/mlperf_log_summary.txt");
  for (std::string line; std::getline(summary, line);) {
    if (line.starts_with("QPS w/ loadgen overhead")) {
      return std::stod(line.substr(line.find(':') + 1));
    }
  }
  throw IoError(logs + ": LoadGen reported no rate");
}

double rate_by_hand(std::int64_t queries, const std::string& logs) {
  mlperf::TestSettings settings;
  settings.scenario = mlperf::TestScenario::SingleStream;
  settings.min_duration_ms = 0;
  settings.min_query_count = std::uint64_t(queries);
  settings.token_latency_scaling_factor = 1;
  mlperf::LogSettings log;
  log.enable_trace = false;
  log.log_output.outdir = logs;
  NullSystem system;
  mlperf::StartTest(&system, &system, settings, log, logs + "/audit.config");
  return told_rate(logs);
}

ScenarioResult ask(const std::string& scenario, const Settings& settings,
                   const ScenarioOptions& options, double seconds = 0) {
  Answering system(seconds);
  return scenarios().at(scenario).make(settings)->run(system, options);
}

void print(const std::string& what, const std::vector<double>& values, double scale,
           const char* unit, double q = 0.5) {
  const Estimate found = estimate(values, {.of = Statistic::Of::quantile, .quantile = q});
  fmt::print("{:<64} {:9.4g} [{:.4g}, {:.4g}] {}\n", what, found.value * scale,
             found.interval.low * scale, found.interval.high * scale, unit);
}

/// Prints the queries per second of `rounds` runs of d5's own generator.
void print_rate(const std::string& what, int rounds, const std::string& scenario,
                const Settings& settings, std::int64_t queries) {
  std::vector<double> rates;
  for (int i = 0; i < rounds; ++i) {
    ScenarioOptions options;
    options.least_queries = queries;
    rates.push_back(throughput(ask(scenario, settings, options)));
  }
  print(what, rates, 1e-6, "M queries/s");
}

/// Single-stream only: offline LoadGen's clock stops when the answers begin, so that an empty
/// system would only measure how fast an array is filled.
void print_adapter(int rounds, std::int64_t queries) {
  const auto logs = std::filesystem::temp_directory_path() / "d5-bench-load-generators";
  std::filesystem::create_directories(logs);
  std::vector<double> by_hand, adapted;
  for (int i = 0; i < rounds; ++i) {
    by_hand.push_back(rate_by_hand(queries, logs));
    ScenarioOptions options;
    options.least_queries = queries;
    options.log_folder = logs;
    (void)ask("single_stream", {{"expected_latency", 0.001}}, options);
    adapted.push_back(told_rate(logs));
  }
  std::filesystem::remove_all(logs);
  const Comparison ratio = compare(adapted, by_hand);
  print("LoadGen single stream, by hand", by_hand, 1e-6, "M queries/s");
  print("LoadGen single stream, through d5", adapted, 1e-6, "M queries/s");
  fmt::print("{:<64} {:9.4g} [{:.4g}, {:.4g}]\n", "  ratio", ratio.ratio, ratio.ratio_interval.low,
             ratio.ratio_interval.high);
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::CommandLine line("Rate and delay of queries by load generator.");
  int rounds = 15;
  line.add("--rounds", &rounds, "runs of each generator");
  if (const auto status = line.parse(argc, argv)) return *status;

  print_rate("offline: batched, 1,000 samples a query", rounds, "batched", {{"batch", 1000}}, 2000);
  print_rate("closed loop, one user", rounds, "closed_loop", {}, 500'000);
  // A schedule that is always late, so that it never waits: the cost of asking one by one.
  print_rate("scheduled, never waiting: constant", rounds, "constant", {{"rate", 1e8}}, 1'000'000);
  print_rate("scheduled, never waiting: poisson", rounds, "poisson", {{"rate", 1e8}}, 1'000'000);

  ScenarioOptions second;
  second.least_queries = 5000;
  for (const auto& [who, scenario] : {std::pair("d5", "poisson"), std::pair("LoadGen", "server")}) {
    const std::vector<double> lags = query_lags(ask(scenario, {{"rate", 1000}}, second));
    print(fmt::format("lag at 1,000/s, {}, median", who), lags, 1e6, "us");
    print(fmt::format("lag at 1,000/s, {}, p99", who), lags, 1e6, "us", 0.99);
  }
  print_adapter(rounds, 100'000);

  for (const double q : {0.5, 0.9, 0.99}) {
    for (const auto& [name, scenario] :
         {std::pair("d5's poisson", "poisson"), std::pair("LoadGen's server", "server")}) {
      ScenarioOptions options;
      options.least_queries = 3000;
      print(fmt::format("latency p{:g} of a 2 ms system at 200/s, {}", q * 100, name),
            query_latencies(ask(scenario, {{"rate", 200}}, options, 0.002)), 1e3, "ms", q);
    }
  }
  return 0;
}
