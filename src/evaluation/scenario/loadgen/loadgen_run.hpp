// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/core/entries/option.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

/// What LoadGen is told besides `ScenarioOptions`. Zero and empty: as its files, or it itself, say.
struct LoadGenOptions {
  enum class Scenario { single_stream, multi_stream, server, offline };
  Scenario scenario = Scenario::single_stream;
  double expected_latency = 0;  ///< s, streams: how many queries are made ready depends on it
  double rate = 0;              ///< queries a second: server's, or what offline expects
  std::int64_t samples_per_query = 0;  ///< of multi-stream
  double target_latency = 0;           ///< s, of server
  std::string model = {};              ///< by the rules of mlperf.conf for it ("*": any)
  std::string user_conf = {};          ///< a file of the same form, read after mlperf.conf

  /// The options that all four have.
  void declare_files(OptionList& options) {
    options.add("model", model,
                "by mlperf.conf's rules for this model (\"*\": any), not by those of the run");
    options.add("user_conf", user_conf, "a file of the same form, which is read after mlperf.conf");
  }
};

/// Runs LoadGen's own scenario in this process, which it does one at a time. Latency counts as
/// LoadGen counts it, to the same clock. Throws: Unsupported where d5 was built without LoadGen;
/// ValueError for settings that LoadGen would not end by, and for a second run at the same time;
/// IoError, FormatError for files.
[[nodiscard]] ScenarioResult run_loadgen(const LoadGenOptions& loadgen, SystemUnderTest& system,
                                         const ScenarioOptions& options);

/// One of LoadGen's scenarios: `O` is `LoadGenOptions`, with which of them it is, and what of them
/// it has.
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
  /// LoadGen is 99% sure of server's 99th percentile from 459 queries on, if none is late, and from
  /// 662 on, if one is.
  [[nodiscard]] Length usual_length() const override {
    if (options_.scenario != LoadGenOptions::Scenario::server) return {};
    return {.queries = 662};
  }

 private:
  Options options_;
};

}  // namespace d5::detail
