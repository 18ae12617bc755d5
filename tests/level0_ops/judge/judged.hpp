// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/judge/judge.hpp"

namespace d5::testing {

/// Uncommon sizes, a batch of one, and equal sizes.
inline const std::string kCases = "MatMul {m}x{k} {k}x9 for m=1,6 k=16,17";

inline std::filesystem::path judge_folder() {
  const char* root = std::getenv("D5_SOURCE_DIR");
  return std::filesystem::path(root ? root : ".") / "tests" / "level0_ops" / "judge";
}
/// `name` is "cheats/warmup".
inline std::string source_of(const std::string& name) {
  return (judge_folder() / (name + ".cpp")).string();
}

/// Judges the source on a sweep of cases.
inline std::vector<Measurement> judged(const std::string& name, const std::string& cases,
                                       JudgeOptions options, int threads = 1) {
  const int before = d5::threads();
  set_threads(threads);
  auto records = judge_source(source_of(name), expand_case(cases), options);
  set_threads(before);
  return records;
}

/// Names of the sources in a folder.
inline std::vector<std::string> sources_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(judge_folder() / folder)) {
    names.push_back(entry.path().stem().string());
  }
  return names;
}

inline const Measurement& first_failed(const std::vector<Measurement>& records) {
  const auto failed = std::ranges::find(records, Status::failed, &Measurement::status);
  return failed == records.end() ? records.front() : *failed;
}

}  // namespace d5::testing
