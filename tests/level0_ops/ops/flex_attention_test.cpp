// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

// ONNX's own cases test its graphs: a line has none.

TEST_CASE("FlexAttention without graphs is Attention") {
  const std::string inputs = "Attention 1x4x3x2 1x2x5x2 1x2x5x3";
  const Floats expected = result_of(inputs), got = result_of("ai.onnx.preview.Flex" + inputs);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]));
}

TEST_CASE("FlexAttention rounds its probabilities to the softmax's type") {
  // A third, in float16.
  CHECK(result_of("ai.onnx.preview.FlexAttention 1x1x1x1 1x1x3x1{0,0,0} 1x1x3x1{3,0,0} "
                  "softmax_precision=10") == Floats{3 * float(Float16(1.0f / 3))});
}

TEST_CASE("FlexAttention takes empty tensors and refuses what does not fit") {
  const std::string name = "ai.onnx.preview.FlexAttention ";
  CHECK(shape_of(name + "2x3x0x4 2x3x5x4 2x3x5x6") == "2x3x0x6");
  CHECK_THROWS_WITH(run_case(name + "2x3x4 2x3x4 2x3x4"),
                    "ai.onnx.preview.FlexAttention 'output0': Q is 2x3x4, expected four "
                    "dimensions");
  CHECK_THROWS_AS(run_case(name + "1x3x2x3 1x2x2x3 1x2x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case(name + "1x1x2x3 1x1x2x3 1x1x2x3 softmax_precision=2"), ValueError);
}
