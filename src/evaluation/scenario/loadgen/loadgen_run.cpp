// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

#include <fmt/format.h>
#include <mlperf_loadgen/issue_query_controller.h>
#include <mlperf_loadgen/loadgen.h>
#include <mlperf_loadgen/query_sample_library.h>
#include <mlperf_loadgen/system_under_test.h>
#include <mlperf_loadgen/version.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "core/files/scratch_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/scenario/loadgen.hpp"
#include "evaluation/load/conclusion.hpp"
#include "evaluation/load/load_run.hpp"
#include "evaluation/load/usual_load.hpp"
#include "evaluation/scenario/loadgen/loadgen_adapter.hpp"
#include "evaluation/scenario/loadgen/loadgen_report.hpp"
#include "evaluation/scenario/loadgen/loadgen_settings.hpp"

namespace d5 {

std::string loadgen_version() {
  return fmt::format("{} ({})", mlperf::LoadgenVersion(), mlperf::LoadgenGitRevision());
}

namespace detail {
namespace {

constexpr std::int64_t kMultiStreamSamples = 8;  // per query, LoadGen's default
constexpr double kLeastTarget = 0.1;             // s, LoadGen's default for server

/// Refuses two runs at once, which would end the process: LoadGen has one logger and one
/// controller.
class OnlyRun {
 public:
  OnlyRun() {
    if (running().test_and_set()) {
      throw ValueError("LoadGen runs one test at a time in a process, and one is running");
    }
  }
  ~OnlyRun() { running().clear(); }
  OnlyRun(const OnlyRun&) = delete;
  OnlyRun& operator=(const OnlyRun&) = delete;

 private:
  static std::atomic_flag& running() {
    static std::atomic_flag flag;
    return flag;
  }
};

/// The folder for LoadGen's files; one without a given name is removed at the end.
class LogFolder {
 public:
  explicit LogFolder(const std::string& named)
      : path_(named.empty() ? make_scratch_folder("loadgen") : named), is_ours_(named.empty()) {
    std::error_code error;
    if (!is_ours_) std::filesystem::create_directories(named, error);
    // LoadGen ends the process if it cannot write.
    if (error || access(path_.c_str(), W_OK) != 0) {
      throw IoError(fmt::format("LoadGen: cannot write its logs to {}: {}", printable(path_),
                                error ? error.message() : "no right to"));
    }
  }
  ~LogFolder() {
    if (is_ours_) remove_scratch_folder(path_);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_ours_;
};

void take_report(const LoadGenReport& report, bool accuracy, ScenarioResult& result) {
  result.conditions["loadgen"] = setting(loadgen_version());
  if (!accuracy) result.conditions["loadgen_result"] = finding(report.valid ? "VALID" : "INVALID");
  if (!accuracy && !report.summarised) invalidate(result, "LoadGen wrote no result");
  if (accuracy || (report.summarised && report.valid)) return;
  if (report.reasons.empty()) invalidate(result, "LoadGen: INVALID");
  for (const std::string& reason : report.reasons) {
    invalidate(result, "LoadGen: INVALID: " + printable_message(reason));
  }
}

/// Estimates settings that are left open by running a few queries.
LoadGenOptions with_expectations(LoadGenOptions loadgen, SystemUnderTest& system,
                                 const ScenarioOptions& options) {
  using Which = LoadGenOptions::Scenario;
  const bool by_files = !loadgen.model.empty() || !loadgen.user_conf.empty();
  const bool offline = loadgen.scenario == Which::offline;
  const bool by_rate = offline || loadgen.scenario == Which::server;
  const bool told = by_rate ? loadgen.rate > 0 : loadgen.expected_latency > 0;
  if (by_files || told || options.mode == ScenarioOptions::Mode::accuracy) return loadgen;
  if (loadgen.scenario == Which::server) {
    const UsualLoad usual = usual_load(system, options);
    loadgen.rate = usual.rate;
    if (loadgen.target_latency == 0) {
      const double queries =
          std::max(double(options.least_queries), options.least_seconds * usual.rate);
      loadgen.target_latency = std::max(kLeastTarget, usual_target(usual.service, queries));
    }
    return loadgen;
  }
  const bool multi = loadgen.scenario == Which::multi_stream;
  const std::int64_t size = !multi                          ? 1
                            : loadgen.samples_per_query > 0 ? loadgen.samples_per_query
                                                            : kMultiStreamSamples;
  // A fast system is assumed to be no faster than queries can be prepared.
  const double affordable = 4 * options.least_seconds * double(size) / double(options.most_queries);
  // Uses the shortest latency: LoadGen prepares queries for twice its time, and a run that outlasts
  // them is invalid.
  const std::vector<double> alone = latencies_alone(system, options, 10, size);
  const double quickest = alone.empty() ? 0 : std::ranges::min(alone);
  const double latency = std::max({quickest, affordable, 1e-9});
  if (offline) {
    loadgen.rate = 2 / latency;  // its own threads and larger batches may make it faster
  } else {
    loadgen.expected_latency = latency / 2;
  }
  return loadgen;
}

}  // namespace

ScenarioResult run_loadgen(const LoadGenOptions& told, SystemUnderTest& system,
                           const ScenarioOptions& options) {
  const OnlyRun only;
  expect_fitting(system, options, std::max<std::int64_t>(1, told.samples_per_query));
  const LoadGenOptions loadgen = with_expectations(told, system, options);
  const LoadGenSettings chosen = loadgen_settings(loadgen, options, system.samples());
  const LogFolder folder(options.log_folder);
  const bool accuracy = options.mode == ScenarioOptions::Mode::accuracy;

  mlperf::LogSettings logs;
  logs.enable_trace = false;  // 660 MB per million queries
  logs.log_output.outdir = folder.path();
  const bool tells_tokens = chosen.settings.use_token_latencies && !accuracy;
  LoadGenAdapter adapter(system, options,
                         {.most_samples = chosen.most_samples, .tells_tokens = tells_tokens});
  // The last argument names the file of an audit, which LoadGen looks for in the current folder by
  // default.
  mlperf::StartTest(&adapter.system(), &adapter.library(), chosen.settings, logs,
                    folder.path() + "/audit.config");

  ScenarioResult result;
  const bool scheduled = loadgen.scenario == LoadGenOptions::Scenario::server ||
                         loadgen.scenario == LoadGenOptions::Scenario::offline;
  result.latency_from = scheduled ? LatencyFrom::schedule : LatencyFrom::issue;
  result.settles = loadgen.scenario != LoadGenOptions::Scenario::offline;
  result.percentile = loadgen_percentile(chosen.settings);
  const bool multi = loadgen.scenario == LoadGenOptions::Scenario::multi_stream;
  if (multi) {
    result.samples_per_query = std::int64_t(chosen.settings.multi_stream_samples_per_query);
  }
  result.conditions.merge(adapter.conditions());
  take_log(adapter.end(), options, result);
  take_report(system.report(), result);
  if (adapter.short_answers() > 0) {
    invalidate(result, fmt::format("{} answers came without pieces, or have fewer than two tokens; "
                                   "LoadGen's time per output token divides by their tokens - 1",
                                   adapter.short_answers()));
  }
  check_deadline(options, result);
  take_report(read_loadgen_report(folder.path()), accuracy, result);
  conclude(result, options);
  if (loadgen.scenario == LoadGenOptions::Scenario::server && loadgen.rate != told.rate) {
    tell_usual(result, "offered_rate", "query/s", chosen.settings.server_target_qps);
    tell_usual(result, "target_latency", "s",
               double(chosen.settings.server_target_latency_ns) * 1e-9);
  }
  return result;
}

}  // namespace detail
}  // namespace d5
