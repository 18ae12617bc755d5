// SPDX-License-Identifier: Apache-2.0
#include "conformance/case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5::conformance {
namespace {

/// The case's own tolerance, as numpy.testing.assert_allclose means it.
ForwardTolerance read_tolerance(const std::string& path) {
  ForwardTolerance tolerance{.relative = 1e-3, .absolute = 1e-7};  // the defaults of ONNX's runner
  std::ifstream file(path + "/tolerance.txt");
  std::string word;
  double value = 0;
  while (file >> word >> value) (word == "rtol" ? tolerance.relative : tolerance.absolute) = value;
  return tolerance;
}

/// The first operator that the framework lacks, subgraphs included.
std::string first_unsupported(const onnx::Graph& graph, const OperatorRegistry& registry) {
  std::string reason;
  const std::function<void(const onnx::Node&)> look = [&](const onnx::Node& node) {
    if (reason.empty()) reason = registry.knows(node).reason;
  };
  onnx::Visitor visitor;
  visitor.otherwise(look);
  visitor.visit(graph);
  return reason;
}

/// The expected output of such an operator is one draw of NumPy's generator, which nobody else has.
bool draws_random_numbers(const onnx::Graph& graph) {
  static const std::set<std::string> kRandom = {"Bernoulli",        "Multinomial",
                                                "RandomNormal",     "RandomUniform",
                                                "RandomNormalLike", "RandomUniformLike"};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const onnx::Node& node) {
    // Dropout with a third input is in training mode.
    return kRandom.contains(node.op_type) || (node.op_type == "Dropout" && node.has_input(2));
  });
}

class Case {
 public:
  Case(const std::string& path, const std::string& framework)
      : path_(path), folder_(onnx::open_test_folder(path)), framework_(framework) {}

  Result run() {
    Network network = Network::load(folder_.model_path);
    const auto& registry = d5::framework(framework_).part<OperatorRegistry>();
    if (auto reason = first_unsupported(network.graph(), registry); !reason.empty()) {
      return {Outcome::unsupported, reason};
    }
    const bool random = draws_random_numbers(network.graph());
    const auto executor = make_executor(network, {.frameworks = {framework_}});
    for (const auto& data : folder_.data_sets) {
      if (auto difference = compare(*executor, data, random); !difference.empty()) {
        return {Outcome::failed, difference};
      }
    }
    return {Outcome::passed, random ? "random, so only types and shapes are compared" : ""};
  }

 private:
  std::string compare(GraphExecutor& executor, const onnx::TestFolder::DataSet& data, bool random) {
    const auto& graph = executor.network().graph();
    ValueMap inputs;
    std::size_t next = 0;
    for (const auto& input : graph.inputs) {
      if (graph.initializers.contains(input.name) || next == data.inputs.size()) continue;
      inputs[input.name] = onnx::load_value(data.inputs[next++], input.type);
    }
    const ValueMap& got = executor.inference(inputs);
    for (std::size_t i = 0; i < data.outputs.size(); ++i) {
      const auto& output = graph.outputs.at(i);
      const Value expected = onnx::load_value(data.outputs[i], output.type);
      const Value& value = got.at(output.name);
      if (random) {
        if (to_string(value.desc()) == to_string(expected.desc())) continue;
        return fmt::format("output {}: got {}, expected {}", printable(output.name),
                           to_string(value.desc()), to_string(expected.desc()));
      }
      const Difference difference = compare_values(value, expected, tolerance_for(expected));
      if (!difference.equal)
        return fmt::format("output {}: {}", printable(output.name), difference.where);
    }
    return {};
  }

  /// ONNX's runner widens the tolerance for bfloat16, whose significand has 8 bits.
  ForwardTolerance tolerance_for(const Value& expected) const {
    ForwardTolerance tolerance = read_tolerance(path_);
    if (expected.is_tensor() && expected.tensor().dtype() == DType::bfloat16) {
      tolerance.relative = std::max(tolerance.relative, 0x1p-6);
    }
    return tolerance;
  }

  std::string path_;
  onnx::TestFolder folder_;
  std::string framework_;
};

/// One line, without the path of this machine.
std::string tidy(std::string reason, const std::string& path) {
  for (std::size_t at; (at = reason.find(path)) != std::string::npos;)
    reason.erase(at, path.size());
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  return reason;
}

}  // namespace

Result run_case(const std::string& path, const std::string& framework) {
  try {
    return Case(path, framework).run();
  } catch (const Unsupported& error) {
    return {Outcome::unsupported, tidy(error.what(), path)};
  } catch (const std::exception& error) {
    return {Outcome::failed, tidy(error.what(), path)};
  }
}

std::string to_string(const Result& result) {
  const char* words[] = {"failed", "unsupported", "passed"};
  const std::string word = words[int(result.outcome)];
  return result.reason.empty() ? word : word + ": " + result.reason;
}

Result parse_result(const std::string& text) {
  const auto colon = text.find(": ");
  const std::string word = text.substr(0, colon);
  const std::string reason = colon == std::string::npos ? "" : text.substr(colon + 2);
  if (word == "passed") return {Outcome::passed, reason};
  if (word == "unsupported") return {Outcome::unsupported, reason};
  if (word == "failed") return {Outcome::failed, reason};
  throw FormatError(
      fmt::format("'{}' is no outcome; expected passed, unsupported or failed", printable(text)));
}

}  // namespace d5::conformance
