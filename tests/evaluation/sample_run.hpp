// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/database/evaluation_sink.hpp"
#include "tests/core/sample_results.hpp"

namespace d5::testing {

/// SHA-256 of "{}".
inline const std::string kKey = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

inline EvaluationRun a_run(const std::string& id = "0123456789abcdef0123456789abcdef") {
  return {.id = id,
          .key = kKey,
          .manifest = "{}",
          .command = "d5 eval run lenet",
          .environment = an_environment()};
}

inline Measurement a_latency(const std::string& subject, const std::string& framework,
                             double seconds) {
  return {.subject = subject,
          .command = "d5 eval run " + subject,
          .level = "evaluation",
          .framework = framework,
          .framework_version = "1",
          .metric = "latency",
          .unit = "s",
          .quantity = Quantity::time,
          .samples = ramp(seconds, 0.01),
          .artefacts = {{.name = subject, .version = "1.0.0", .sha256 = std::string(64, 'a')}}};
}

inline std::vector<QueryRecord> some_queries(std::int64_t count) {
  std::vector<QueryRecord> queries;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t scheduled = 7'000'000'000 + 1'000'000 * i;
    queries.push_back({.id = i,
                       .sample = i * 7919 % 1000,
                       .batch = std::int32_t(1 + i % 4),
                       .scheduled = scheduled,
                       .issued = scheduled + 120 + i % 5,
                       .begun = scheduled + 40'000,
                       .ended = scheduled + 900'000 + i % 1000,
                       .status = i % 100 == 0 ? Status::failed : Status::passed});
  }
  return queries;
}

}  // namespace d5::testing
