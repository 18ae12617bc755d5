// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("FusedGemm and FusedConv end with their activation") {
  // 1 - 2 - 3 = -4, 3 + 2 - 3 = 2
  const std::string gemm = "com.microsoft.FusedGemm 2x2{1,-2,3,2} 2x1{1,1} {-3} ";
  CHECK(result_of(gemm + "activation=Relu") == Floats{0, 2});
  CHECK(result_of(gemm + "activation=LeakyRelu activation_alpha=0.5") == Floats{-2, 2});
  const std::string conv = "com.microsoft.FusedConv 1x1x1x3{-1,0,2} 1x1x1x1{2} {1} ";
  CHECK(result_of(conv + "activation=Relu") == Floats{0, 1, 5});
  // {-1, 1, 5} + {3, -2, -6}
  CHECK(result_of(conv + "1x1x1x3{3,-2,-6} activation=Relu") == Floats{2, 0, 0});
  CHECK(result_of("com.microsoft.FusedConv 1x1x1x3{-1,0,2} 1x1x1x1{2} - 1x1x1x3{3,-2,-6} "
                  "activation=LeakyRelu activation_alpha=0.5") == Floats{1, -1, -1});
  const auto with_parameters = [&](const std::string& activation, const Floats& parameters) {
    OperatorCase one = parse_case(conv + "activation=" + activation);  // applied to {-1, 1, 5}
    one.node.attributes["activation_params"] = parameters;
    OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
    runner.forward();
    const auto y = runner.output(0).tensor().span<float>();
    return Floats(y.begin(), y.end());
  };
  CHECK(with_parameters("HardSigmoid", {0.5F, 0.25F}) == Floats{0, 0.75F, 1});
  CHECK(with_parameters("Clip", {0, 3}) == Floats{0, 1, 3});
  CHECK(with_parameters("Clip", {}) == Floats{-1, 1, 5});
}

TEST_CASE("gradients go through the activation, then through the product") {
  for (const char* activation : {"Relu", "Sigmoid", "Tanh"}) {
    const std::string end = std::string(" activation=") + activation;
    check_gradient("com.microsoft.FusedGemm 3x4 4x5 5" + end, 3);
    check_gradient("com.microsoft.FusedGemm 4x3 5x4 transA=1 transB=1" + end, 2);
    check_gradient("com.microsoft.FusedConv 2x3x5x5 4x3x3x3 4 pads=1x1x1x1" + end, 3);
    check_gradient("com.microsoft.FusedConv 2x3x5x5 4x3x3x3 4 2x4x5x5 pads=1x1x1x1" + end, 4);
    check_gradient("com.microsoft.FusedConv 1x2x4 3x2x3 - 1x3x2" + end, 3);
  }
}

TEST_CASE("an activation that is not known, and none, are refused") {
  const std::string gemm = "com.microsoft.FusedGemm 2x2 2x2 ";
  CHECK_THROWS_AS(run_case(gemm + "activation=Exp"), Unsupported);
  CHECK_THROWS_AS(run_case(gemm), NotFound);
  CHECK_THROWS_AS(run_case("com.microsoft.FusedGemm 2x2 3x2 activation=Relu"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.FusedGemm 2x2 2x2 2 2x2 activation=Relu"), Unsupported);
}

TEST_CASE("what a convolution adds has its output's type and shape") {
  const std::string conv = "com.microsoft.FusedConv 2x1x2x2 3x1x1x1 3 ";
  CHECK_NOTHROW(run_case(conv + "2x3x2x2 activation=Relu"));
  CHECK_THROWS_AS(run_case(conv + "1x3x2x2 activation=Relu"), ShapeError);
  CHECK_THROWS_AS(run_case(conv + "3x2x2 activation=Relu"), ShapeError);
  CHECK_THROWS_AS(run_case(conv + "float64:2x3x2x2 activation=Relu"), TypeError);
}
