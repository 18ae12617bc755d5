// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mlperf_loadgen/query_sample_library.h>
#include <mlperf_loadgen/system_under_test.h>

#include <cstdint>
#include <memory>
#include <string>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/query_log.hpp"

namespace d5::detail {

/// Presents a d5 system under test to LoadGen, and logs its queries. LoadGen is notified of each
/// sample's end exactly once, whatever the system does: an exception ends a sample, and so does a
/// missing answer after the time limit.
class LoadGenAdapter {
 public:
  struct Options {
    std::int64_t most_samples = 0;  ///< largest number that LoadGen asks for
    bool tells_tokens = false;      ///< LoadGen measures tokens (`use_token_latencies`)
  };
  LoadGenAdapter(SystemUnderTest& system, const ScenarioOptions& scenario, const Options& options);
  ~LoadGenAdapter();
  LoadGenAdapter(const LoadGenAdapter&) = delete;
  LoadGenAdapter& operator=(const LoadGenAdapter&) = delete;

  [[nodiscard]] mlperf::SystemUnderTest& system();
  [[nodiscard]] mlperf::QuerySampleLibrary& library();
  [[nodiscard]] Conditions conditions() const;
  /// Number of answers whose tokens LoadGen cannot measure: no piece came, or fewer than two
  /// tokens. LoadGen divides by their tokens - 1.
  [[nodiscard]] std::int64_t short_answers() const;
  /// Call when LoadGen has returned.
  [[nodiscard]] QueryLog::Closed end();

 private:
  class Asked;
  class Samples;
  SystemUnderTest& listened_;
  std::shared_ptr<Asked> asked_;
  std::unique_ptr<Samples> samples_;
};

}  // namespace d5::detail
