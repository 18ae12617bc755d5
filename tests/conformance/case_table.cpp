// SPDX-License-Identifier: Apache-2.0
#include "conformance/case_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOlder = "older/", kWithout = "without:", kIndent = "  ";
constexpr std::size_t kColumns = 100;

/// Every test folder below `root` as "<prefix>kind/name".
void add_cases(const std::string& root, std::string_view prefix, Cases& cases) {
  for (const auto& kind : fs::directory_iterator(root)) {
    if (!kind.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(kind)) {
      if (!fs::exists(entry.path() / "model.onnx")) continue;
      cases[std::string(prefix) + entry.path().lexically_relative(root).string()] = entry.path();
    }
  }
}

bool is_older(const std::string& name) { return name.starts_with(kOlder); }

/// The operators of a model in the order in which `run_case` asks for them, subgraphs included.
std::vector<std::string> operators_of(const std::string& folder) {
  std::vector<std::string> names;
  onnx::Visitor visitor;
  visitor.otherwise([&](const onnx::Node& node) {
    names.push_back(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
  });
  visitor.visit(onnx::load(onnx::open_test_folder(folder).model_path).graph);
  return names;
}

/// The expected result of a case without a row of its own.
Result by_operators(const std::vector<std::string>& operators,
                    const std::set<std::string>& without) {
  const auto first = std::ranges::find_if(
      operators, [&](const std::string& name) { return without.contains(name); });
  if (first == operators.end()) return {Outcome::passed, ""};
  return {Outcome::unsupported, "operator " + *first};
}

/// "passed: 1844 of 2036, names 0123456789ab", of one release.
std::string head_of(const Outcomes& outcomes, bool older) {
  std::size_t all = 0, passed = 0;
  std::string names;
  for (const auto& [name, result] : outcomes) {
    if (is_older(name) != older) continue;
    ++all;
    if (result.outcome != Outcome::passed) continue;
    ++passed;
    names += name + "\n";
  }
  return fmt::format("passed{}: {} of {}, names {:08x}", older ? " of older" : "", passed, all,
                     stream_of(names));
}

std::string wrapped(const std::string& first, std::string_view next,
                    const std::vector<std::string>& words) {
  std::string text, line = first;
  for (const auto& word : words) {
    if (line.size() + 1 + word.size() > kColumns && line.size() > next.size()) {
      text += line + "\n";
      line = next;
    }
    line += (line.ends_with(' ') ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

Cases find_cases(const std::string& newest, const std::string& older) {
  Cases cases;
  add_cases(newest, "", cases);
  if (!older.empty()) add_cases(older, kOlder, cases);
  return cases;
}

CaseTable read_table(const std::string& path, const Cases& cases) {
  CaseTable table;
  std::vector<std::string> heads;
  std::set<std::string> without;
  Outcomes rows;
  std::istringstream text(read_file(path));
  const bool any_older =
      std::ranges::any_of(cases, [](const auto& one) { return is_older(one.first); });
  Result outcome;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with(kIndent)) {
      for (const auto& name : words_of(line)) rows[name] = outcome;
    } else if (line.starts_with(kWithout)) {
      for (auto& name : words_of(line.substr(kWithout.size()))) without.insert(std::move(name));
    } else if (line.starts_with("passed") && line.find(", names ") != std::string::npos) {
      heads.push_back(line);
      table.has_older = table.has_older || line.starts_with("passed of older:");
    } else {
      outcome = parse_result(line);
    }
  }
  for (const auto& [name, folder] : cases) {
    const auto row = rows.find(name);
    table.expected[name] = row != rows.end() ? row->second
                           : without.empty() ? Result{Outcome::passed, ""}
                                             : by_operators(operators_of(folder), without);
  }
  for (const auto& [name, result] : rows) {
    if (cases.contains(name) || (is_older(name) && !any_older)) continue;
    table.faults.push_back(fmt::format("no case: {} {}", name, to_string(result)));
  }
  for (const std::string& head : heads) {
    const bool older = head.starts_with("passed of older:");
    const std::string found = head_of(table.expected, older);
    if (head == found || (older && !any_older)) continue;
    table.faults.push_back(
        fmt::format("the table has '{}', its rows and the cases that are there "
                    "make '{}': a case is new, gone or named otherwise",
                    head, found));
  }
  if (heads.empty()) table.faults.push_back("the table says nowhere how many cases pass");
  return table;
}

void write_table(const std::string& path, const std::string& framework, const Cases& cases,
                 const Outcomes& outcomes) {
  std::map<std::string, std::vector<std::string>> operators;
  std::set<std::string> without, passing;
  for (const auto& [name, folder] : cases) {
    const auto& names = operators[name] = operators_of(folder);
    const Result& result = outcomes.at(name);
    constexpr std::string_view kOperator = "operator ";
    if (result.outcome == Outcome::passed) {
      passing.insert(names.begin(), names.end());
    } else if (result.outcome == Outcome::unsupported && result.reason.starts_with(kOperator)) {
      without.insert(result.reason.substr(kOperator.size()));
    }
  }
  // "X in opset 7" is no operator's name, and one that some case passes with is not missing.
  std::erase_if(without, [&](const std::string& name) {
    return name.find(' ') != std::string::npos || passing.contains(name);
  });
  std::map<std::string, std::vector<std::string>> rows;
  for (const auto& [name, result] : outcomes) {
    const Result other = by_operators(operators.at(name), without);
    if (result.outcome == other.outcome && result.reason == other.reason) continue;
    rows[to_string(result)].push_back(name);
  }
  std::string text = fmt::format(
      "# What does not plainly pass of ONNX's backend tests on framework {0}, written by: "
      "conformance {0} --update\n{1}\n",
      framework, head_of(outcomes, false));
  if (std::ranges::any_of(cases, [](const auto& one) { return is_older(one.first); })) {
    text += head_of(outcomes, true) + "\n";
  }
  if (!without.empty()) {
    text += wrapped(std::string(kWithout), std::string(kWithout), {without.begin(), without.end()});
  }
  for (const auto& [outcome, names] : rows) {
    text += outcome + "\n" + wrapped(std::string(kIndent), kIndent, names);
  }
  write_file(path, text);
}

}  // namespace d5::conformance
