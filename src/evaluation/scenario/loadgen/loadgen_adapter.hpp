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

/// A system under test of d5's as LoadGen sees it, and the log of what it asks. LoadGen hears each
/// sample's end exactly once, whatever the system does: an exception, and no answer for as long as
/// one may take, are ends.
class LoadGenAdapter {
 public:
  /// `most` is the number of samples that LoadGen asks for at most.
  LoadGenAdapter(SystemUnderTest& system, const ScenarioOptions& options, std::int64_t most);
  ~LoadGenAdapter();
  LoadGenAdapter(const LoadGenAdapter&) = delete;
  LoadGenAdapter& operator=(const LoadGenAdapter&) = delete;

  [[nodiscard]] mlperf::SystemUnderTest& system();
  [[nodiscard]] mlperf::QuerySampleLibrary& library();
  [[nodiscard]] Conditions conditions() const;
  /// Once LoadGen has returned.
  [[nodiscard]] QueryLog::Closed end();

 private:
  class Asked;
  class Samples;
  SystemUnderTest& listened_;
  std::shared_ptr<Asked> asked_;
  std::unique_ptr<Samples> samples_;
};

}  // namespace d5::detail
