// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/entries/path_option.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

/// LoadGen's settings besides `ScenarioOptions`. Zero and empty: from its files, or its own
/// defaults.
struct LoadGenOptions {
  enum class Scenario { single_stream, multi_stream, server, offline };
  Scenario scenario = Scenario::single_stream;
  double expected_latency = 0;         ///< s, streams: determines the number of prepared queries
  double rate = 0;                     ///< queries/s: server's rate, or offline's expected one
  std::int64_t samples_per_query = 0;  ///< multi-stream's samples per query
  double target_latency = 0;           ///< server's target latency, in s
  double target_ttft = 0;  ///< server's target for the first token, in s; replaces target_latency
  double target_tpot = 0;  ///< server's target per output token, in s; likewise
  std::string model = {};  ///< model whose rules in mlperf.conf apply ("*": any)
  std::string user_conf = {};  ///< a file of the same form, read after mlperf.conf

  /// The options of all four scenarios.
  void declare_files(OptionList& options) {
    options.add("model", model,
                "model whose rules in mlperf.conf replace those of the run (\"*\": any)");
    options.add("user_conf", user_conf, "file of the same form, which is read after mlperf.conf",
                path_text());
  }
};

/// Runs LoadGen's own scenario in this process, one at a time. Latency is measured as LoadGen does,
/// on the same clock. Throws: Unsupported if d5 was built without LoadGen; ValueError for settings
/// with which LoadGen would not end, and for a second run at the same time; IoError, FormatError
/// for files.
[[nodiscard]] ScenarioResult run_loadgen(const LoadGenOptions& loadgen, SystemUnderTest& system,
                                         const ScenarioOptions& options);

/// One of LoadGen's scenarios: `O` is `LoadGenOptions` with the scenario, and the options that it
/// uses.
template <class O>
class LoadGenScenario final : public Scenario {
 public:
  using Options = O;
  explicit LoadGenScenario(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    return run_loadgen(options_, system, options);
  }
  [[nodiscard]] bool overlaps() const override {
    using enum LoadGenOptions::Scenario;
    return options_.scenario == server || options_.scenario == offline;
  }
  [[nodiscard]] bool batches() const override {
    return options_.scenario != LoadGenOptions::Scenario::single_stream;
  }
  /// LoadGen is 99% certain of server's 99th percentile from 459 queries on if none is late, and
  /// from 662 on if one is.
  [[nodiscard]] Length usual_length() const override {
    if (options_.scenario != LoadGenOptions::Scenario::server) return {};
    return {.queries = 662};
  }

 private:
  Options options_;
};

}  // namespace d5::detail
