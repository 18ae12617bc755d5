// SPDX-License-Identifier: Apache-2.0
// Slopes where a function has none, or two: LibTorch's choice, operator by operator.
#include <limits>

#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

constexpr float kNoBound = std::numeric_limits<float>::infinity();

/// The gradient of input `i` of the sum over output 0.
Floats slope_of(const std::string& line, std::size_t i = 0) {
  OperatorRunner runner = run_case(line, Mode::training);
  const Tensor& y = runner.output(0).tensor();
  std::vector<Tensor> ones(runner.output_count());
  ones[0] =
      Tensor::of<float>(y.shape(), std::span<const float>(Floats(std::size_t(y.elements()), 1)));
  runner.backward(ones);
  const auto slope = runner.grad_input(i).span<float>();
  return {slope.begin(), slope.end()};
}

}  // namespace

TEST_CASE("rectifiers have the slope below zero at zero") {
  CHECK(slope_of("Relu {0}") == Floats{0});
  CHECK(slope_of("LeakyRelu {0} alpha=0.25") == Floats{0.25});
  CHECK(slope_of("PRelu {0} {0.25}") == Floats{0.25});
  CHECK(slope_of("PRelu {0} {0.25}", 1) == Floats{0});
  CHECK(slope_of("ThresholdedRelu {1} alpha=1") == Floats{0});
  CHECK(slope_of("Elu {0} alpha=2") == Floats{2});
  CHECK(slope_of("Celu {0} alpha=2") == Floats{1});
  CHECK(slope_of("Selu {0} alpha=2 gamma=3") == Floats{6});
}

TEST_CASE("the activations of recurrent layers have the slopes of their operators") {
  const std::string line = "RNN 1x1x1{0} 1x1x1{1} 1x1x1{0} activations=";
  CHECK(slope_of(line + "Relu") == Floats{0});
  CHECK(slope_of(line + "LeakyRelu activation_alpha=0.25") == Floats{0.25});
  CHECK(slope_of(line + "Elu activation_alpha=2") == Floats{2});
  CHECK(slope_of(line + "ThresholdedRelu activation_alpha=0") == Floats{0});
  CHECK(slope_of(line + "HardSigmoid activation_beta=0") == Floats{0});
  CHECK(slope_of("RNN 1x1x1{1} 1x1x1{1} 1x1x1{0} activations=Affine clip=1") == Floats{1});
}

TEST_CASE("steps and corners") {
  CHECK(slope_of("HardSigmoid {-2.5,2.5}") == Floats{0, 0});
  CHECK(slope_of("HardSwish {-3,3}") == Floats{0, 1});
  CHECK(slope_of("Shrink {-1,1} lambd=1") == Floats{0, 0});
  CHECK(slope_of("Abs {0}") == Floats{0});
  CHECK(slope_of("Sign {0}") == Floats{0});
  CHECK(slope_of("Ceil {1}") == Floats{0});
  CHECK(slope_of("Clip {-1,1} scalar{-1} scalar{1}") == Floats{1, 1});
  CHECK(slope_of("Mod {4,-4} {2,2} fmod=1", 1) == Floats{-2, 2});
  CHECK(slope_of("Sqrt {0}") == Floats{kNoBound});
  CHECK(slope_of("Pow {0,0,2} {0,2,0}") == Floats{0, 0, 0});
  CHECK(slope_of("Pow {0,0} {0,2}", 1) == Floats{0, 0});
}

TEST_CASE("norms of nothing but zeros are flat") {
  CHECK(slope_of("ReduceL1 {0,2}") == Floats{0, 1});
  CHECK(slope_of("ReduceL2 {0,0}") == Floats{0, 0});
  CHECK(slope_of("LpPool 1x1x2x2{0,0,0,0} kernel_shape=2x2") == Floats{0, 0, 0, 0});
  CHECK(slope_of("LpNormalization {0,0}") == Floats{0, 0});  // y is zero there by definition
}

TEST_CASE("equal extremes share, or the first takes it where it has a place") {
  CHECK(slope_of("Unique {2,1,2}") == Floats{1, 1, 0});
  CHECK(slope_of("ReduceMax {2,2,1}") == Floats{0.5, 0.5, 0});
  CHECK(slope_of("ReduceMin {2,1,1}") == Floats{0, 0.5, 0.5});
  CHECK(slope_of("Max {2,2} {2,1}") == Floats{0.5, 1});
  CHECK(slope_of("Min {2,2} {2,1}") == Floats{0.5, 0});
  CHECK(slope_of("MaxPool 1x1x3{2,2,1} kernel_shape=3") == Floats{1, 0, 0});
  CHECK(slope_of("TopK {2,2,1} int64:{1}") == Floats{1, 0, 0});
}
