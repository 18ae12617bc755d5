// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/loadgen/loadgen_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::detail {
namespace {

using Which = LoadGenOptions::Scenario;

/// LoadGen's names, as its files spell them.
const char* words_of(Which which) {
  switch (which) {
    case Which::single_stream:
      return "SingleStream";
    case Which::multi_stream:
      return "MultiStream";
    case Which::server:
      return "Server";
    case Which::offline:
      break;
  }
  return "Offline";
}

mlperf::TestScenario scenario_of(Which which) {
  switch (which) {
    case Which::single_stream:
      return mlperf::TestScenario::SingleStream;
    case Which::multi_stream:
      return mlperf::TestScenario::MultiStream;
    case Which::server:
      return mlperf::TestScenario::Server;
    case Which::offline:
      break;
  }
  return mlperf::TestScenario::Offline;
}

/// Reads mlperf.conf, which LoadGen contains, and the user's file.
void read_files(const LoadGenOptions& loadgen, mlperf::TestSettings& settings) {
  const std::string model = loadgen.model.empty() ? "*" : loadgen.model;
  const char* words = words_of(loadgen.scenario);
  settings.FromConfig("", model, words, 0);
  if (loadgen.user_conf.empty()) return;
  if (!std::filesystem::is_regular_file(loadgen.user_conf)) {
    throw IoError(fmt::format("{} is not a file; expected LoadGen's user.conf",
                              printable(loadgen.user_conf)));
  }
  // Kind 2 only reads the file; kind 1 reads mlperf.conf once per process.
  if (settings.FromConfig(loadgen.user_conf, model, words, 2) != 0) {
    throw FormatError(
        fmt::format("{}: LoadGen cannot read it; each line is 'model.scenario.key = number', with "
                    "spaces around the sign, or begins with '# '",
                    printable(loadgen.user_conf)));
  }
}

/// Rounded up.
std::uint64_t milliseconds(double seconds) {
  constexpr std::int64_t kNsOfMs = 1'000'000;
  return std::uint64_t((nanoseconds(seconds) + kNsOfMs - 1) / kNsOfMs);
}

/// Settings of the run, if no file defines them.
void set_limits(const ScenarioOptions& options, mlperf::TestSettings& settings) {
  settings.min_duration_ms = milliseconds(options.least_seconds);
  settings.max_duration_ms = milliseconds(options.most_seconds);
  settings.min_query_count = std::uint64_t(options.least_queries);
  settings.qsl_rng_seed = options.seed;
  settings.sample_index_rng_seed = options.seed + 1;
  settings.schedule_rng_seed = options.seed + 2;
  settings.accuracy_log_rng_seed = options.seed + 3;
}

constexpr double kUsualRate = 10;  ///< queries/s, like d5's own generators

void set_scenario(const LoadGenOptions& loadgen, mlperf::TestSettings& settings) {
  settings.scenario = scenario_of(loadgen.scenario);
  if (loadgen.expected_latency > 0) {
    settings.single_stream_expected_latency_ns = loadgen.expected_latency * 1e9;
    settings.multi_stream_expected_latency_ns = loadgen.expected_latency * 1e9;
  }
  if (loadgen.samples_per_query > 0) {
    settings.multi_stream_samples_per_query = std::uint64_t(loadgen.samples_per_query);
  }
  if (loadgen.rate > 0) {
    settings.server_target_qps = loadgen.rate;
    settings.offline_expected_qps = loadgen.rate;
  } else if (loadgen.model.empty() && loadgen.user_conf.empty()) {
    settings.server_target_qps = kUsualRate;
  }
  if (loadgen.target_latency > 0) {
    settings.server_target_latency_ns = std::uint64_t(nanoseconds(loadgen.target_latency));
  }
  if (loadgen.target_ttft > 0 || loadgen.target_tpot > 0) {
    constexpr double kNoTarget = 1e9;  // s; LoadGen always judges both
    const auto target = [](double seconds) {
      return std::uint64_t(nanoseconds(seconds > 0 ? seconds : kNoTarget));
    };
    settings.use_token_latencies = true;
    settings.server_ttft_latency = target(loadgen.target_ttft);
    settings.server_tpot_latency = target(loadgen.target_tpot);
  }
}

/// The number of samples that LoadGen prepares, computed as in its GenerateQueries and
/// TestSettingsInternal.
double prepared_samples(const mlperf::TestSettings& settings, std::int64_t samples) {
  const double seconds = double(settings.min_duration_ms) / 1000;
  const auto least = double(settings.min_query_count);
  switch (settings.scenario) {
    case mlperf::TestScenario::SingleStream:
      return std::max(least, 2 * seconds * 1e9 / settings.single_stream_expected_latency_ns);
    case mlperf::TestScenario::MultiStream:
      return double(settings.multi_stream_samples_per_query) *
             std::max(least, 2 * seconds * 1e9 / settings.multi_stream_expected_latency_ns);
    case mlperf::TestScenario::Server:
      // Poisson arrivals: rarely six standard deviations more.
      return std::max(least, seconds * settings.server_target_qps +
                                 6 * std::sqrt(seconds * settings.server_target_qps));
    case mlperf::TestScenario::Offline:
      break;
  }
  return std::max({least, 1.1 * seconds * settings.offline_expected_qps, double(samples)});
}

void check_settings(const mlperf::TestSettings& settings, const ScenarioOptions& options,
                    double prepared) {
  const auto expect = [](bool fits, const std::string& given, const char* expected) {
    if (!fits) throw ValueError(fmt::format("LoadGen: {}, expected {}", given, expected));
  };
  const auto positive = [&](const char* what, double value) {
    expect(value > 0 && std::isfinite(value), fmt::format("{} is {}", what, value),
           "a positive number: with another one it would never end");
  };
  positive("the rate of server", settings.server_target_qps);
  positive("the rate of offline", settings.offline_expected_qps);
  positive("the expected latency of single stream", settings.single_stream_expected_latency_ns);
  positive("the expected latency of multi-stream", settings.multi_stream_expected_latency_ns);
  positive("multi-stream's samples of a query", double(settings.multi_stream_samples_per_query));
  expect(settings.mode == mlperf::TestMode::PerformanceOnly ||
             settings.mode == mlperf::TestMode::AccuracyOnly,
         "a file chooses the mode", "files that leave it to the run");
  expect(settings.performance_sample_count_override == 0 || options.performance_samples == 0,
         "both a file and the run say how many samples are drawn", "one of them");
  if (prepared > double(options.most_queries)) {
    throw ValueError(
        fmt::format("LoadGen would make {:.3g} samples ready ahead (326 MB a million), more than "
                    "the {} allowed; "
                    "expect a longer latency, a lower rate or a shorter run",
                    prepared, options.most_queries));
  }
}

}  // namespace

LoadGenSettings loadgen_settings(const LoadGenOptions& loadgen, const ScenarioOptions& options,
                                 std::int64_t samples) {
  LoadGenSettings result;
  mlperf::TestSettings& settings = result.settings;
  settings.token_latency_scaling_factor = 1;  // LoadGen leaves it uninitialised
  settings.scenario = scenario_of(loadgen.scenario);
  const bool accuracy = options.mode == ScenarioOptions::Mode::accuracy;
  settings.mode = accuracy ? mlperf::TestMode::AccuracyOnly : mlperf::TestMode::PerformanceOnly;
  if (loadgen.model.empty()) set_limits(options, settings);
  if (!loadgen.model.empty() || !loadgen.user_conf.empty()) {
    const mlperf::TestMode mode = settings.mode;
    read_files(loadgen, settings);
    if (settings.mode != mode) settings.mode = mlperf::TestMode::SubmissionRun;  // refused below
    if (loadgen.model.empty()) set_limits(options, settings);
  }
  set_scenario(loadgen, settings);
  if (options.latency_seconds > 0) {
    settings.server_target_latency_ns = std::uint64_t(nanoseconds(options.latency_seconds));
  }
  if (options.percentile > 0) {
    settings.single_stream_target_latency_percentile = options.percentile;
    settings.multi_stream_target_latency_percentile = options.percentile;
    settings.server_target_latency_percentile = options.percentile;
  }
  double prepared = prepared_samples(settings, samples);
  if (accuracy) {  // each sample once, and those that fill the last query up
    const double per_query = double(settings.multi_stream_samples_per_query);
    prepared = double(samples) + per_query;
  }
  check_settings(settings, options, prepared);
  // A margin for LoadGen's rounding, and for gaps that chance makes shorter.
  result.most_samples =
      std::int64_t(prepared * 1.01) + 1000 + std::int64_t(settings.multi_stream_samples_per_query);
  return result;
}

double loadgen_percentile(const mlperf::TestSettings& settings) {
  switch (settings.scenario) {
    case mlperf::TestScenario::SingleStream:
      return settings.single_stream_target_latency_percentile;
    case mlperf::TestScenario::MultiStream:
      return settings.multi_stream_target_latency_percentile;
    case mlperf::TestScenario::Server:
      return settings.server_target_latency_percentile;
    case mlperf::TestScenario::Offline:
      break;
  }
  return 0.99;
}

}  // namespace d5::detail
