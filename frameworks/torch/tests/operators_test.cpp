// SPDX-License-Identifier: Apache-2.0
// Tests of torch's operators, forward and backward, and of the cases that it refuses.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "tests/level0_ops/framework_suite.hpp"

using namespace d5;

namespace {

const testing::FrameworkSuite kSuite("torch", D5_TORCH_TEST_DIR);

/// Torch's answer for the inputs of `op_case`.
Support support_of(const OperatorCase& op_case) {
  const auto op = operator_for(op_case.node);
  std::vector<ValueDesc> inputs;
  std::vector<const Value*> constants;
  for (const Value& input : op_case.inputs) {
    inputs.push_back(input.desc());
    constants.push_back(&input);
  }
  auto outputs = op->infer({op_case.node, inputs, constants});
  outputs.resize(op_case.node.outputs.size());
  return framework("torch").part<OperatorRegistry>().supports(
      {*op, op_case.node, inputs, constants, outputs, {}});
}

}  // namespace

TEST_CASE("torch computes what the reference computes") { kSuite.check_forward(); }

TEST_CASE("torch's gradients are the slopes of its own forward") { kSuite.check_gradients(); }

TEST_CASE("torch's gradients are the slopes of its forward, but for the exceptions") {
  kSuite.check_gradient_table();
}

TEST_CASE("what torch says that it supports runs, and all else is refused before it runs") {
  const auto& torch = framework("torch").part<OperatorRegistry>();
  const std::vector<std::string> functions = {"Add",   "Sub",     "Mul",        "Div",       "Max",
                                              "Equal", "Greater", "BitwiseAnd", "BitwiseXor"};
  const std::vector<std::string> types = {"uint8", "uint16", "uint32", "uint64",
                                          "int8",  "int16",  "int32",  "int64"};
  int refused = 0;
  for (const auto& function : functions) {
    for (const auto& type : types) {
      const auto op_case = parse_case(function + " " + type + ":3{5,2,7} " + type + ":3{1,2,3}");
      INFO(op_case.line);
      const auto run = [&] { OperatorRunner(torch, op_case.node, op_case.inputs).forward(); };
      if (const Support support = support_of(op_case)) {
        CHECK_NOTHROW(run());
      } else {
        ++refused;
        CHECK(support.reason == function + " on " + type);
        CHECK_THROWS_AS(run(), Unsupported);
      }
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("torch refuses by name what it has no element type, value or attribute for") {
  const auto reason = [](const std::string& line) { return support_of(parse_case(line)).reason; };
  CHECK(reason("Relu 3").empty());
  CHECK(reason("Identity string:{a,b}").find("string") != std::string::npos);
  CHECK(reason("Cast 3 to=22").find("int4") != std::string::npos);
  CHECK(reason("Div uint64:2 uint64:2").find("uint64") != std::string::npos);
  CHECK(reason("Erf@9 int16:2") == "Erf on int16");
  CHECK(reason("Resize 1x1x2x2 {0,0,0,0,1,1,1,1} - int64:{1,1,3,3} "
               "coordinate_transformation_mode=tf_crop_and_resize")
            .find("crop") != std::string::npos);
  CHECK(reason("AveragePool float16:1x1x4x4x4 kernel_shape=2x2x2").find("float16") !=
        std::string::npos);
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
