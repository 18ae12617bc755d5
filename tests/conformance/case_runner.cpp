// SPDX-License-Identifier: Apache-2.0
#include "conformance/case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5::conformance {
namespace {

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

Result run(const std::string& path, const std::string& framework) {
  const onnx::Model model = onnx::load(onnx::open_test_folder(path).model_path);
  const auto& registry = d5::framework(framework).part<OperatorRegistry>();
  if (auto reason = first_unsupported(model.graph, registry); !reason.empty()) {
    return {Outcome::unsupported, reason};
  }
  Result result{Outcome::passed, ""};
  for (const auto& record : test_folder(path, {.frameworks = {framework}})) {
    if (record.status == Status::unsupported) return {Outcome::unsupported, record.reason};
    if (record.status != Status::passed) return {Outcome::failed, record.reason};
    if (const auto what = record.conditions.find("compared"); what != record.conditions.end()) {
      result.reason = "random, compared: " + what->second.text();
    }
  }
  return result;
}

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
    Result result = run(path, framework);
    result.reason = tidy(result.reason, path);
    return result;
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
