// SPDX-License-Identifier: Apache-2.0
// Cases as a command line names them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/registry.hpp"
#include "d5/level0_ops/custom_operator.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/schema.hpp"

namespace d5 {
namespace {

bool is_file(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(word, ignored);
}

std::string full_name(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

/// Those of the reference and of the frameworks that are loaded, and the user's own.
std::vector<std::string> known_operators() {
  std::vector<std::string> known;
  const auto add = [&](const OperatorRegistry& registry) {
    for (const auto& entry : registry.list()) known.push_back(full_name(entry.domain, entry.name));
  };
  for (const auto& info : frameworks()) {
    if (info.loaded || info.name == "reference") {
      add(framework(info.name).part<OperatorRegistry>());
    }
  }
  add(custom_operators());
  return known;
}

/// An operator of ONNX that d5 lacks is a finding; a name that nobody knows is a misprint.
void check_name(const CaseLine& one) {
  if (onnx::schema_of(one.node) || custom_operators().has_operator(one.node)) return;
  const std::string name = full_name(one.node.domain, one.node.op_type);
  onnx::Node newest = one.node;
  newest.opset = onnx::newest_opset(newest.domain);
  if (onnx::schema_of(newest)) {
    throw NotFound(fmt::format("operator {} is not in opset {}, but in opset {}: leave '@{}' out",
                               name, one.node.opset, newest.opset, one.node.opset));
  }
  const auto known = known_operators();
  if (std::ranges::find(known, name) != known.end()) return;
  throw_unknown_name(one.node.inputs.empty() ? "operator or file of cases" : "operator", name,
                     known);
}

}  // namespace

std::vector<CaseLine> read_case_words(const std::vector<std::string>& words, std::uint64_t seed) {
  const bool unquoted =
      words.size() > 1 && std::ranges::none_of(words, [](const std::string& word) {
        return word.find(' ') != std::string::npos || is_file(word);
      });
  std::vector<CaseLine> cases;
  if (unquoted) {
    cases = expand_case(fmt::format("{}", fmt::join(words, " ")), seed);
    std::ranges::for_each(cases, check_name);
    return cases;
  }
  for (const auto& word : words) {
    for (auto& one : is_file(word) ? read_cases(word, seed) : expand_case(word, seed)) {
      cases.push_back(std::move(one));
    }
  }
  std::ranges::for_each(cases, check_name);
  return cases;
}

}  // namespace d5
