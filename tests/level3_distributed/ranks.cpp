// SPDX-License-Identifier: Apache-2.0
// Linked into every test program that runs on several ranks.
#include <catch2/catch.hpp>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::testing {
namespace {

/// Ends the job after a failed test case, with its failures printed. Otherwise the rank would
/// continue with the next one, while the others wait in this one.
class FailTogether : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.assertions.failed == 0 || world()->size() == 1) return;
    world()->abort("test case '" + stats.testInfo.name + "' failed");
  }
};
CATCH_REGISTER_LISTENER(FailTogether)

}  // namespace
}  // namespace d5::testing
