// SPDX-License-Identifier: Apache-2.0
// Every operator of torch against the reference, forward and backward, on the lines of a file.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"

using namespace d5;

namespace {

std::vector<OperatorCase> cases(std::uint64_t seed) {
  return read_cases(D5_TORCH_TEST_DIR "/operators.txt", seed);
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
    check(test_forward(op_case, "torch", "reference",
                       ForwardTolerance{.relative = 1e-4, .absolute = 1e-5}));
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

TEST_CASE("torch's Dropout keeps what the mask says, scaled, and passes its gradient alike") {
  const auto op_case = parse_case("Dropout 64x64 scalar{0.25} bool:scalar{1} outputs=2");
  OperatorRunner dropout(framework("torch").part<OperatorRegistry>(), op_case.node, op_case.inputs,
                         Mode::training);
  dropout.forward();
  const auto x = op_case.inputs[0].tensor().span<float>();
  const auto y = dropout.output(0).tensor().span<float>();
  const auto mask = dropout.output(1).tensor().span<bool>();
  Tensor ones = Tensor::empty(DType::float32, {64, 64});
  for (float& value : ones.span<float>()) value = 1;
  dropout.backward({ones, Tensor()});
  const auto dx = dropout.grad_input(0).span<float>();
  int kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    kept += mask[i] ? 1 : 0;
    CHECK(y[i] == Approx(mask[i] ? x[i] / 0.75f : 0.0f));
    CHECK(dx[i] == Approx(mask[i] ? 1 / 0.75f : 0.0f));
  }
  // 4096 trials at 0.75: five standard deviations are 139.
  CHECK(std::abs(kept - 3072) < 139);
}
