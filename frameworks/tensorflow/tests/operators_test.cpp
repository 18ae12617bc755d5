// SPDX-License-Identifier: Apache-2.0
// Tests of TensorFlow's operators, forward and backward, and of the cases that it refuses.
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "tests/level0_ops/framework_suite.hpp"

using namespace d5;

namespace {

const testing::FrameworkSuite kSuite("tensorflow", D5_TENSORFLOW_TEST_DIR);

void run(const std::string& line) {
  const auto op_case = parse_case(line);
  OperatorRunner(framework("tensorflow").part<OperatorRegistry>(), op_case.node, op_case.inputs)
      .forward();
}

}  // namespace

TEST_CASE("TensorFlow computes what the reference computes") { kSuite.check_forward(); }

TEST_CASE("TensorFlow's gradients are the slopes of its own forward, or refused while planning") {
  kSuite.check_gradients();
}

TEST_CASE("TensorFlow's gradients are the slopes of its forward, but for the exceptions") {
  kSuite.check_gradient_table();
}

TEST_CASE("TensorFlow refuses by name what it has no element type, operation or kernel for") {
  const auto reason = [](const std::string& line) {
    try {
      run(line);
    } catch (const Unsupported& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using Catch::Contains;
  CHECK(reason("Relu 3").empty());
  CHECK_THAT(reason("Identity string:{a,b}"), Contains("string"));
  CHECK_THAT(reason("Cast 3 to=22"), Contains("int4"));
  CHECK_THAT(reason("AveragePool float64:1x1x4x4x4 kernel_shape=2x2x2"), Contains("AvgPool3D"));
  CHECK_THAT(reason("MaxPool 1x1x5x5 kernel_shape=2x2 dilations=2x2"), Contains("dilations"));
  CHECK_THAT(reason("ConvTranspose 1x2x3x3 2x1x2x2 group=2"), Contains("groups"));
  CHECK_THAT(reason("Pad 3x4 int64:{1,2,1,2} mode=edge"), Contains("edge"));
  CHECK_THAT(reason("Dropout 3x4 scalar{0.25} bool:scalar{1}"), Contains("random"));
}

TEST_CASE("what only values show to be wrong is an error of TensorFlow's, with the node's name") {
  try {
    run("Gather 3x4 int64:{0,7}");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Catch::Contains("Gather") && Catch::Contains("7"));
  }
}

TEST_CASE("inputs that no vector instruction could load are read at each run") {
  const auto op_case = parse_case("Neg 8", 1);
  const Tensor memory = Tensor::zeros(DType::float32, {9});
  Value shifted = memory.slice(1, 9);  // 4 bytes behind an aligned address
  OperatorRunner neg(framework("tensorflow").part<OperatorRegistry>(), op_case.node, {shifted});
  for (const float value : {1.0f, 2.0f}) {
    neg.input(0).tensor().span<float>()[3] = value;
    neg.forward();
    CHECK(neg.output(0).tensor().span<float>()[3] == -value);
  }
}

TEST_CASE("a kernel goes on when the number of threads changes") {
  const int before = threads();
  const auto op_case = parse_case("Conv 2x3x8x8 4x3x3x3", 1);
  OperatorRunner conv(framework("tensorflow").part<OperatorRegistry>(), op_case.node,
                      op_case.inputs, Mode::training);
  conv.forward();
  const Tensor expected = conv.output(0).tensor().copy();
  for (const int count : {1, 3, before}) {
    set_threads(count);
    conv.forward();
    conv.backward({expected});
    CHECK(compare_values(conv.output(0), expected, {}).equal);
  }
}
