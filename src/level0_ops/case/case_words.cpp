// SPDX-License-Identifier: Apache-2.0
// Parses cases on a command line.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "core/entries/unknown_name.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
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

/// Operators of the reference, the loaded frameworks and the user.
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

/// Whether a word is a shape, "2x3", and thus part of an unquoted case.
bool is_shape(const std::string& word) {
  return word.find_first_not_of("0123456789x") == std::string::npos;
}

/// An example line that the reference can run; empty if the usual shapes do not fit.
std::string example_of(const onnx::Node& node) {
  constexpr std::array kUsual = {"2x3x9x9 4x3x3x3", "2x3x9x9 3 3 3 3", "2x3",
                                 "2x3 2x3",         "2x3 3x4",         "2x3 2x3 2x3",
                                 "bool:2x3",        "2x3 int64:2x3",   "bool:2x3 bool:2x3",
                                 "bool:2x3 2x3 2x3"};
  const auto& reference = framework("reference").part<OperatorRegistry>();
  for (const char* shapes : kUsual) {
    try {
      std::string line = full_name(node.domain, node.op_type) + " " + shapes;
      const OperatorCase one = parse_case(line);
      std::vector<ValueDesc> descriptions;
      std::vector<const Value*> values;
      for (const Value& value : one.inputs) {
        descriptions.push_back(value.desc());
        values.push_back(&value);
      }
      (void)reference.make(one.node)->infer({one.node, descriptions, values});
      return line;
    } catch (const Error&) {  // these shapes do not fit
    }
  }
  return "";
}

/// Throws: ValueError with an example that has inputs.
void expect_inputs(const CaseLine& one) {
  const auto schema = onnx::schema_of(one.node);
  if (!schema || schema->least_inputs == 0 || !one.node.inputs.empty()) return;
  std::vector<std::string> names;
  for (int i = 0; i < schema->least_inputs; ++i) {
    names.push_back(onnx::parameter(schema->inputs, std::size_t(i))->name);
  }
  const std::string example = example_of(one.node);
  throw ValueError(fmt::format(
      "case '{}' lacks {}; the shapes of inputs follow the operator, within the same quotes{}",
      printable(one.line), fmt::join(names, ", "),
      example.empty() ? "" : fmt::format(": \"{}\"", example)));
}

/// Refuses unknown names as misspelt. An operator of ONNX that d5 lacks is accepted, and reported
/// as unsupported.
void check_name(const CaseLine& one) {
  if (onnx::schema_of(one.node) || custom_operators().has_operator(one.node)) return;
  const std::string name = full_name(one.node.domain, one.node.op_type);
  onnx::Node newest = one.node;
  newest.opset = onnx::newest_opset(newest.domain);
  if (onnx::schema_of(newest)) {
    throw NotFound(fmt::format("operator {} is not in opset {}, but in opset {}: omit '@{}'", name,
                               one.node.opset, newest.opset, one.node.opset));
  }
  if (is_shape(name)) {
    throw ValueError(fmt::format(
        "'{}' is not an operator but looks like a shape; put quotes around each whole case: "
        "\"Gemm 2x3 3x4\"",
        name));
  }
  const auto known = known_operators();
  if (std::ranges::find(known, name) != known.end()) return;
  const auto is_of_domain = [&](const std::string& other) {
    return other.starts_with(one.node.domain + ".");
  };
  const bool is_own = !one.node.domain.empty() && std::ranges::none_of(known, is_of_domain);
  if (is_own && !one.node.inputs.empty()) {
    auto near = nearest_names(name, known);
    std::erase_if(near, [](const std::string& other) { return other.find('.') == other.npos; });
    throw NotFound(fmt::format(
        "operator '{}' is unknown, as is its domain '{}'; {}load your own from its file ({})",
        printable(name), printable(one.node.domain),
        near.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(near, " or ")),
        option_word("load", "FILE")));
  }
  const char* kind = one.node.inputs.empty() ? "operator or file of cases" : "operator";
  throw NotFound(
      fmt::format("{}; 'd5 list operators' lists them", detail::unknown_name(kind, name, known)));
}

void check_line(const CaseLine& one) {
  check_name(one);
  expect_inputs(one);
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
    std::ranges::for_each(cases, check_line);
    return cases;
  }
  for (const auto& word : words) {
    if (is_file(word)) {
      std::ranges::move(read_cases(word, seed, check_line), std::back_inserter(cases));
      continue;
    }
    for (auto& one : expand_case(word, seed)) {
      check_line(one);
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace d5
