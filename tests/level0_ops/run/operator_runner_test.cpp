// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

OperatorRunner make(const std::string& line, Mode mode = Mode::inference) {
  const OperatorCase c = parse_case(line);
  return {framework("reference").part<OperatorRegistry>(), c.node, c.inputs, mode};
}

}  // namespace

TEST_CASE("a runner runs again after its input changed") {
  OperatorRunner relu = make("Relu {-1,2}");
  relu.forward();
  CHECK(relu.output(0).tensor().span<float>()[0] == 0);
  relu.input(0).tensor().data<float>()[0] = 3;
  relu.forward();
  CHECK(relu.output(0).tensor().span<float>()[0] == 3);
}

TEST_CASE("a runner runs backward") {
  OperatorRunner relu = make("Relu {-1,2}", Mode::training);
  relu.forward();
  relu.backward({Tensor::vector<float>({5, 7})});
  CHECK(relu.grad_input(0).span<float>()[0] == 0);
  CHECK(relu.grad_input(0).span<float>()[1] == 7);
}

TEST_CASE("a runner computes the gradients that it is asked for") {
  const OperatorCase c = parse_case("Mul {2,3} {5,7}");
  OperatorRunner product(framework("reference").part<OperatorRegistry>(), c.node, c.inputs,
                         Mode::training, Guard::on, {}, Places{1});
  product.forward();
  product.backward({Tensor::vector<float>({1, 1})});
  CHECK_FALSE(product.grad_input(0).defined());
  CHECK(product.grad_input(1).span<float>()[1] == 3);
}

TEST_CASE("integer inputs have no gradient") {
  OperatorRunner loss = make("SoftmaxCrossEntropyLoss 2x3 int64:{0,2}", Mode::training);
  loss.forward();
  loss.backward({Tensor::scalar(1.0f)});
  CHECK(loss.grad_input(0).defined());
  CHECK_FALSE(loss.grad_input(1).defined());
}

TEST_CASE("backward is refused where no input has a gradient, by type or at all") {
  for (const char* line : {"Add int32:2 int32:2", "Shape 2x3"}) {
    OperatorRunner runner = make(line, Mode::training);
    runner.forward();
    CHECK_THROWS_AS(runner.backward({Tensor()}), Unsupported);
  }
}

TEST_CASE("random operators draw the same numbers at every run") {
  OperatorRunner dropout = make("Dropout 1000 scalar{0.5} bool:scalar{1}");
  dropout.forward();
  const Tensor first = dropout.output(0).tensor().copy();
  dropout.forward();
  CHECK(compare_values(dropout.output(0), first, {0, 0}).equal);
}

TEST_CASE("a runner refuses what it cannot do") {
  CHECK_THROWS_AS(make("NoSuchOperator 3"), Unsupported);
  OperatorRunner relu = make("Relu 2");
  CHECK_THROWS_AS(relu.backward({Tensor::zeros(DType::float32, {2})}), ValueError);
  OperatorRunner trained = make("Relu 2", Mode::training);
  trained.forward();
  CHECK_THROWS_AS(trained.backward({Tensor::zeros(DType::float32, {3})}), ShapeError);
  onnx::Node node = parse_case("Relu 2").node;
  CHECK_THROWS_AS(OperatorRunner(framework("reference").part<OperatorRegistry>(), node, {}),
                  ShapeError);
}
