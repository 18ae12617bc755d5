// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/errors/error.hpp"

namespace d5 {

/// Throws: ValueError if an executor is within a run, when a hook or an operator makes a call that
/// would free the run's memory.
inline void expect_no_run(bool within) {
  if (!within) return;
  throw ValueError(
      "an executor cannot start a run within its own run, from a hook or an operator; wait for its "
      "end, or make another executor of the network");
}

/// Marks an executor's run as long as it lives. Throws: as `expect_no_run`.
class WithinRun {
 public:
  explicit WithinRun(bool& within) : within_(within) {
    expect_no_run(within);
    within_ = true;
  }
  ~WithinRun() { within_ = false; }
  WithinRun(const WithinRun&) = delete;
  WithinRun& operator=(const WithinRun&) = delete;

 private:
  bool& within_;
};

}  // namespace d5
