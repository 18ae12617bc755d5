// SPDX-License-Identifier: Apache-2.0
// A network whose nodes run in several frameworks.
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace {

using d5::DType;
using d5::Tensor;

class CopyKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override { context.output(0).copy_from(context.input(0)); }
};

/// A framework that has float32 alone: Identity says so by its check, Transpose (of vectors) while
/// it is planned. It has a kernel for Softplus that writes where it likes.
const std::string& float_framework() {
  static const std::string name = [] {
    d5::add_framework("float_only", "1", [](d5::Framework& framework) {
      auto& registry = framework.part<d5::OperatorRegistry>();
      registry.add_kernel(
          "Identity", {}, [](d5::PlanContext&) { return std::make_unique<CopyKernel>(); },
          [](const d5::PlanContext& context) {
            return context.dtype(0) == DType::float32
                       ? d5::Support{}
                       : d5::Support{std::string(name_of(context.dtype(0)))};
          });
      registry.add_kernel("Transpose", {}, [](d5::PlanContext& context) {
        return d5::kernel_for(d5::Types<float>{}, context.dtype(0), context,
                              []<class T>() { return std::make_unique<CopyKernel>(); });
      });
      class Replacing final : public d5::Kernel {
        void forward(d5::OpContext& context) override {
          context.set_output(0, context.input(0).copy());
        }
      };
      registry.add_kernel("Softplus", {},
                          [](d5::PlanContext&) { return std::make_unique<Replacing>(); });
    });
    return std::string("float_only");
  }();
  return name;
}

/// Operator and framework of each step, forward.
class FrameworkRecorder final : public d5::ExecutionEvent {
 public:
  std::vector<std::string> log;
  void before_node(const d5::StepInfo& step) override {
    log.push_back(step.node.op_type + " " + std::string(step.framework));
  }
};

/// float32 -> float8 -> float32, with an Identity and a Transpose of each type.
d5::Network with_float8() {
  d5::Network network("narrow");
  network.add_input("x", DType::float32, {3});
  network.add_node("Identity", {"x"}, {"a"});
  network.add_node("Transpose", {"a"}, {"b"});
  network.add_node("Cast", {"b"}, {"c"}, {{"to", std::int64_t(DType::float8e4m3fn)}});
  network.add_node("Identity", {"c"}, {"d"});
  network.add_node("Transpose", {"d"}, {"e"});
  network.add_node("Cast", {"e"}, {"y"}, {{"to", std::int64_t(DType::float32)}});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("nodes of a type that the first framework lacks run in the next one") {
  auto executor =
      d5::make_executor(with_float8(), {.frameworks = {float_framework(), "reference"}});
  auto recorder = std::make_shared<FrameworkRecorder>();
  executor->events().add(recorder);
  const auto& outputs = executor->inference({{"x", Tensor::of<float>({3}, {1, -2, 0.5f})}});
  const auto y = outputs.at("y").tensor().span<float>();
  CHECK(std::vector<float>(y.begin(), y.end()) == std::vector<float>{1, -2, 0.5f});
  CHECK(recorder->log == std::vector<std::string>{"Identity float_only", "Transpose float_only",
                                                  "Cast reference", "Identity reference",
                                                  "Transpose reference", "Cast reference"});
}

TEST_CASE("a node that no framework can plan is refused with the reason of each") {
  auto executor = d5::make_executor(with_float8(), {.frameworks = {float_framework()}});
  const d5::ValueMap inputs = {{"x", Tensor::zeros(DType::float32, {3})}};
  CHECK_THROWS_AS(executor->inference(inputs), d5::Unsupported);
  CHECK_THROWS_WITH(executor->inference(inputs),
                    Catch::Contains("Cast") && Catch::Contains("float_only does not support"));
}

TEST_CASE("the fastest framework is found among those that can") {
  auto executor = d5::make_executor(with_float8(), {.frameworks = {"auto"}});
  const auto& outputs = executor->inference({{"x", Tensor::of<float>({3}, {1, -2, 0.5f})}});
  CHECK(outputs.at("y").tensor().span<float>()[1] == -2);
}

TEST_CASE("a kernel that replaces an output of a plan is named") {
  d5::Network network("replacing");
  network.add_input("x", DType::float32, {3});
  network.add_node("Softplus", {"x"}, {"y"}, {}, "soft");
  network.add_output("y");
  auto executor = d5::make_executor(network, {.frameworks = {float_framework()}});
  const d5::ValueMap inputs = {{"x", Tensor::zeros(DType::float32, {3})}};
  CHECK_THROWS_AS(executor->inference(inputs), d5::ContractError);
  CHECK_THROWS_WITH(executor->inference(inputs), Catch::Contains("Softplus 'soft'"));
}
