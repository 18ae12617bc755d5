// SPDX-License-Identifier: Apache-2.0
#include "level1_network/trials/differing_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/model.hpp"
#include "level1_network/trials/shorter_rounding.hpp"
#include "level1_network/validation/rounding_judge.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5::detail {
namespace {

using Names = std::map<std::string, std::string>;  ///< before and after

/// Makes every tensor that both networks write an output; a shorter type is cast back.
Names give_out_common(Network& before, Network& after) {
  const auto types_before = tensor_dtypes(before), types_after = tensor_dtypes(after);
  std::set<std::string> written;
  for (const auto& node : before.graph().nodes) {
    written.insert(node.outputs.begin(), node.outputs.end());
  }
  std::vector<std::string> common;
  for (const auto& node : after.graph().nodes) {
    for (const auto& name : node.outputs) {
      if (!name.empty() && written.contains(name)) common.push_back(name);
    }
  }
  const auto give_out = [](Network& network, const std::string& name) {
    const auto outputs = network.output_names();
    if (std::ranges::find(outputs, name) == outputs.end()) network.add_output(name);
  };
  Names names;
  for (const auto& name : common) {
    const auto a = types_before.find(name), b = types_after.find(name);
    if (a == types_before.end() || b == types_after.end()) continue;
    std::string other = name;
    if (a->second != b->second) {
      if (!is_floating_point(a->second) || !is_floating_point(b->second)) continue;
      other = after.unused_name(name + ".cast");
      after.add_node("Cast", {name}, {other}, {{"to", std::int64_t(a->second)}});
    }
    give_out(before, name);
    give_out(after, other);
    names[name] = other;
  }
  return names;
}

/// The reason for the first difference; empty if there is none.
std::string first_difference(Network before, Network after, Keeps keeps, const ValueMap& inputs) {
  const std::vector<onnx::Node> nodes = after.graph().nodes;
  const Network original = before.copy();
  const ShorterRounding rounding(before, after);
  const Names names = give_out_common(before, after);
  const bool rounds = keeps == Keeps::rounded;
  const auto first = make_executor(std::move(before)), second = make_executor(std::move(after));
  const std::string output = "output ";
  // Both call a tensor by the name that the judging network uses.
  std::vector<Answer> answers;
  for (auto& answer : answers_of(rounds ? *first : *second, inputs, {})) {
    for (const auto& [a, b] : names) {
      if (answer.tensor != output + (rounds ? a : b)) continue;
      answers.push_back({output + (rounds ? b : a), answer.value});
    }
  }
  RoundingJudge judge(rounds ? *second : *first, inputs, {});
  std::map<std::string, Measurement> failed;
  for (auto& record : judge.judge(error_record("", "reference"), answers)) {
    const bool counts = record.status == Status::failed && !(rounds && rounding.explains(record));
    if (counts) failed[record.conditions.at("tensor").text()] = std::move(record);
  }
  for (const auto& node : nodes) {
    for (const auto& name : node.outputs) {
      const auto place = names.find(name);
      if (place == names.end()) continue;
      const auto record = failed.find(output + (rounds ? place->second : name));
      if (record == failed.end()) continue;
      return fmt::format("{}: {}", onnx::describe(*original.producer(name)), record->second.reason);
    }
  }
  return "";
}

}  // namespace

Network without_updates(const Network& network) {
  if (network.updates().empty()) return network.copy();
  Network result(network.copy().model());
  for (const auto& [constant, tensor] : network.updates()) {
    const auto outputs = result.output_names();
    const bool is_output = std::ranges::find(outputs, tensor) != outputs.end();
    if (!is_output && result.producer(tensor)) result.add_output(tensor);
  }
  return result;
}

std::string differing_node(const Network& before, const Network& after, Keeps keeps,
                           const ValueMap& inputs, const std::string& reason) {
  try {
    std::string found =
        first_difference(without_updates(before), without_updates(after), keeps, inputs);
    return found.empty() ? reason : found;
  } catch (const Error&) {
    return reason;
  }
}

}  // namespace d5::detail
