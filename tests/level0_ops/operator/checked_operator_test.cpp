// SPDX-License-Identifier: Apache-2.0
// ONNX's schema checks a node when it becomes an operator.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

const OperatorRegistry& reference_operators() {
  return framework("reference").part<OperatorRegistry>();
}

/// A node of `op_type` with the inputs and outputs that it needs, in the newest opset; nothing
/// where ONNX does not know it.
std::optional<onnx::Node> least_node(const std::string& domain, const std::string& op_type) {
  onnx::Node node;
  node.op_type = op_type;
  node.domain = domain;
  node.opset = onnx::newest_opset(domain);
  const auto known = onnx::schema_of(node);
  if (!known) return std::nullopt;
  const onnx::Schema& schema = *known;
  const auto needed = [](const std::vector<onnx::Parameter>& parameters, int least) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (int(i) < least || !parameters[i].optional) names.push_back(fmt::format("v{}", i));
    }
    return names;
  };
  node.inputs = needed(schema.inputs, schema.least_inputs);
  node.outputs = needed(schema.outputs, schema.least_outputs);
  return node;
}

/// Calls `f(node, schema)` for every operator that the reference has and ONNX knows.
template <class F>
void for_each_operator(F&& f) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& entry : reference_operators().list()) {
    if (!seen.insert({entry.domain, entry.name}).second) continue;
    const auto node = least_node(entry.domain, entry.name);
    if (!node || !reference_operators().has_operator(*node)) continue;
    INFO(entry.domain << " " << entry.name);
    f(*node, onnx::schema_of(*node).value());
  }
  CHECK(seen.size() > 100);
}

}  // namespace

TEST_CASE("a required input that is left out is named, for every operator") {
  int checked = 0;
  for_each_operator([&](const onnx::Node& whole, const onnx::Schema& schema) {
    for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
      const onnx::Parameter& one = *onnx::parameter(schema.inputs, i);
      if (one.optional) continue;
      onnx::Node node = whole;
      node.inputs[i] = "";
      const std::string missing = fmt::format("input {} ({}) is missing", i, one.name);
      CHECK_THROWS_AS(reference_operators().make(node), ShapeError);
      CHECK_THROWS_WITH(reference_operators().make(node), Catch::Contains(missing));
      if (one.variadic) continue;
      node.inputs.resize(i);
      CHECK_THROWS_WITH(reference_operators().make(node), Catch::Contains(missing));
      ++checked;
    }
  });
  CHECK(checked > 150);
}

TEST_CASE("one input or output too many is refused, for every operator") {
  for_each_operator([](onnx::Node node, const onnx::Schema& schema) {
    constexpr int kAny = std::numeric_limits<int>::max();
    const auto outputs = node.outputs;
    if (schema.most_outputs < kAny) {
      node.outputs.resize(std::size_t(schema.most_outputs) + 1, "v");
      CHECK_THROWS_WITH(reference_operators().make(node),
                        Catch::Contains("outputs are given, expected"));
      node.outputs = outputs;
    }
    if (schema.most_inputs == kAny) return;
    node.inputs.resize(std::size_t(schema.most_inputs) + 1, "v");
    CHECK_THROWS_WITH(reference_operators().make(node), Catch::Contains(", expected"));
  });
}

TEST_CASE("no operator dies of inputs that are left out or of another type") {
  for_each_operator([](onnx::Node node, const onnx::Schema& schema) {
    const auto count = std::min<std::size_t>(schema.inputs.size() + 1, schema.most_inputs);
    node.inputs.resize(count, "v");
    for (std::size_t left_out = 0; left_out <= count; ++left_out) {
      for (const DType dtype : {DType::float32, DType::int64, DType::boolean, DType::string}) {
        std::vector<Value> inputs(count);
        for (std::size_t i = 0; i < count; ++i) {
          if (i != left_out) inputs[i] = Tensor::zeros(dtype, {2, 3});
        }
        try {
          OperatorRunner(reference_operators(), node, inputs, Mode::inference, Guard::on).forward();
        } catch (const ContractError& error) {
          FAIL(error.what());
        } catch (const Error&) {
        }
      }
    }
  });
}

TEST_CASE("case lines with too few or too many inputs are refused") {
  const auto refused = [](const std::string& line, const std::string& message) {
    INFO(line);
    CHECK_THROWS_AS(run_case(line), ShapeError);
    CHECK_THROWS_WITH(run_case(line), Catch::Contains(message));
  };
  refused("Compress 2x3", "Compress 'output0': input 1 (condition) is missing");
  refused("Size", "input 0 (data) is missing");
  refused("InstanceNormalization 2x3x4 3", "input 2 (B) is missing");
  refused("LayerNormalization 2x3", "input 1 (Scale) is missing");
  refused("RMSNormalization 2x3", "input 1 (scale) is missing");
  refused("Gemm 2x3 - 3", "input 1 (B) is missing");
  refused("Relu 2 2", "2 inputs are given, expected 1");
  refused("Relu 2 outputs=2", "2 outputs are given, expected 1");
  refused("Clip 2 scalar scalar scalar", "4 inputs are given, expected 1 to 3");
  refused("ai.onnx.preview.training.Adagrad 1 int64:1 1 1 1", "1 outputs are wanted, expected 2");
}

TEST_CASE("types that the schema does not allow are refused, and named") {
  CHECK_THROWS_WITH(run_case("Compress 2x3 2"),
                    Catch::Contains("Compress 'output0': condition is float32, expected bool"));
  CHECK_THROWS_AS(run_case("Sqrt int64:{1}"), TypeError);
  CHECK_THROWS_WITH(run_case("Where bool:{1} {1} float64:{1}"),
                    Catch::Contains("Y is float64 but X is float32; they must have one type"));
  CHECK_THROWS_WITH(run_case("Concat {1} int64:{1} axis=0"), Catch::Contains("one type"));
  CHECK_THROWS_WITH(run_case("SequenceLength 3"), Catch::Contains("expected a sequence"));
}

TEST_CASE("an attribute that the schema does not have is refused") {
  onnx::Node node = least_node("", "Elu").value();
  node.attributes["alpa"] = 2.0f;
  CHECK_THROWS_AS(reference_operators().make(node), NotFound);
  CHECK_THROWS_WITH(reference_operators().make(node),
                    Catch::Contains("'alpa'") && Catch::Contains("alpha"));
}

TEST_CASE("an operator that ONNX does not know is its maker's own") {
  OperatorRegistry registry("own");
  registry.add("Relu", {.domain = "org.example"}, [](const onnx::Node&) {
    return reference_operators().make(least_node("", "Relu").value());
  });
  onnx::Node node = least_node("", "Elu").value();
  node.domain = "org.example";
  node.op_type = "Relu";
  node.inputs.push_back("one more");
  node.attributes["anything"] = 2.0f;
  CHECK_NOTHROW(registry.make(node));
}
