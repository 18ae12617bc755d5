// SPDX-License-Identifier: Apache-2.0
// Linked into every program of tests that several ranks run.
#include <catch2/catch.hpp>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::testing {
namespace {

/// A rank whose test case failed would go on to the next one, while the others wait for it in this
/// one: it ends the job instead, after its failures were printed.
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
