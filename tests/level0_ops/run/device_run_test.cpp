// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "tests/on_toy.hpp"

using namespace d5;
using d5::test::toy;

namespace {

OperatorRunner on_toy(const std::string& line, Mode mode = Mode::inference,
                      Guard guard = Guard::off) {
  const Device device = toy();  // loads its framework
  OperatorCase one = parse_case(line);
  return {framework("toy").part<OperatorRegistry>(), one.node, one.inputs, mode, guard, device};
}

std::vector<float> floats(const Tensor& tensor) {
  const Tensor here = tensor.on_host();
  const auto values = here.span<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("an operator runs on a device, and sees inputs that change") {
  OperatorRunner relu = on_toy("Relu {-1,2}");
  relu.forward();
  CHECK(relu.output(0).tensor().device() == toy());
  relu.synchronise();
  CHECK(floats(relu.output(0).tensor()) == std::vector<float>{0, 2});
  relu.input(0).tensor().span<float>()[0] = 5;
  relu.forward();
  relu.synchronise();
  CHECK(floats(relu.output(0).tensor()) == std::vector<float>{5, 2});
}

TEST_CASE("an operator's gradient is made on the device") {
  OperatorRunner gemm = on_toy("Gemm 1x2{1,2} 2x1{3,4}", Mode::training);
  gemm.forward();
  gemm.backward({Tensor::of<float>({1, 1}, {10}).copy(toy())});
  gemm.synchronise();
  CHECK(floats(gemm.grad_input(0)) == std::vector<float>{30, 40});
  CHECK(floats(gemm.grad_input(1)) == std::vector<float>{10, 20});
}

TEST_CASE("what a framework lacks on a device is refused with the device's name") {
  CHECK_THROWS_WITH(on_toy("Sigmoid 3"), Catch::Contains("Sigmoid"));
  const Device device = toy();
  OperatorCase one = parse_case("Relu 3");
  CHECK_THROWS_WITH(OperatorRunner(framework("reference").part<OperatorRegistry>(), one.node,
                                   one.inputs, Mode::inference, Guard::off, device),
                    Catch::Contains("Relu on toy:0"));
  CHECK_THROWS_AS(on_toy("Relu 3", Mode::inference, Guard::on), Unsupported);
}
