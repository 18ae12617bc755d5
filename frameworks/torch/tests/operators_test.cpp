// SPDX-License-Identifier: Apache-2.0
// Every operator of torch against the reference, forward and backward, on the lines of a file.
#include <catch2/catch.hpp>

#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_validation.hpp"

using namespace d5;

namespace {

/// Those whose meaning the reference can tell.
std::vector<OperatorCase> cases(std::uint64_t seed) {
  auto all = read_cases(D5_TORCH_TEST_DIR "/operators.txt", seed);
  const auto& reference = framework("reference").part<OperatorRegistry>();
  std::erase_if(all, [&](const auto& one) { return !reference.supports(one.node); });
  return all;
}

void check(const std::vector<Measurement>& records) {
  REQUIRE_FALSE(records.empty());
  for (const auto& record : records) {
    INFO(record.subject << ": " << record.metric << ": " << record.reason);
    CHECK(record.status == Status::passed);
  }
}

}  // namespace

TEST_CASE("torch computes what the reference computes") {
  for (const auto& op_case : cases(1)) {
    INFO(op_case.line);
    // Sums in another order: some ulps of a sum of up to a few hundred products of order 1.
    check(test_forward(op_case, "torch", "reference", {.relative = 1e-4, .absolute = 1e-5}));
  }
}

TEST_CASE("torch's gradients are the slopes of its own forward") {
  for (const auto& op_case : cases(2)) {
    INFO(op_case.line);
    for (const auto& record : test_gradient(op_case, "torch")) {
      INFO(record.subject << ": " << record.metric << ": " << record.reason);
      const bool nothing_to_check = record.reason == "no input is differentiable";
      CHECK((record.status == Status::passed || nothing_to_check));
    }
  }
}
