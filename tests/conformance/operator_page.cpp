// SPDX-License-Identifier: Apache-2.0
// Writes docs/operators.md: what is known of every operator, from the registries, ONNX's schemas,
// the tables of this folder and those of tests/level0_ops/gradients. Without --update it compares.
//
//   operator_page [--update]
//
// The cases are those of D5_ONNX_CASES. Exit status: 0 the page is as it would be written, 1 it is
// not, 2 something is missing, 4 skipped.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "conformance/case_runner.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/case_tables.hpp"

namespace {

namespace fs = std::filesystem;
using namespace d5;

std::string full_name(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

/// Cases of ONNX's that hold an operator, by framework.
struct Count {
  int passed = 0, all = 0;
};

/// All that the page says of one operator.
struct Row {
  std::vector<int> versions;
  std::set<DType> types;
  testing::GradientRow gradient;
  std::map<std::string, Count> conformance;
};
using Rows = std::map<std::string, Row>;

void add_schemas(const OperatorRegistry::Entry& entry, Row& row) {
  onnx::Node node;
  node.domain = entry.domain;
  node.op_type = entry.name;
  const int newest = onnx::newest_opset(node.domain);
  for (node.opset = entry.since; node.opset <= std::min(entry.until, newest); ++node.opset) {
    const auto schema = onnx::schema_of(node);
    if (!schema || schema->deprecated) continue;
    if (row.versions.empty() || row.versions.back() != schema->since) {
      row.versions.push_back(schema->since);
    }
    for (const auto* parameters : {&schema->inputs, &schema->outputs}) {
      for (const auto& one : *parameters) {
        row.types.insert(one.element_types.begin(), one.element_types.end());
      }
    }
  }
}

/// The operators of the outermost graph of a case.
std::set<std::string> operators_of(const std::string& model) {
  std::set<std::string> result;
  for (const auto& node : onnx::load(model).graph.nodes) {
    result.insert(full_name(node.domain, node.op_type));
  }
  return result;
}

void add_conformance(const fs::path& table, const std::string& cases, Rows& rows) {
  std::ifstream in(table);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("node/")) continue;
    const auto space = line.find(' ');
    const std::string name = line.substr(0, space);
    const auto result = conformance::parse_result(line.substr(space + 1));
    for (const auto& one : operators_of(cases + "/" + name + "/model.onnx")) {
      const auto row = rows.find(one);
      if (row == rows.end()) continue;
      Count& count = row->second.conformance[table.stem().string()];
      ++count.all;
      count.passed += result.outcome == conformance::Outcome::passed;
    }
  }
}

/// "float16 ... float64" as one word for a family that is there as a whole.
std::string words_of(std::set<DType> types) {
  static const std::vector<std::pair<const char*, std::set<DType>>> kFamilies = {
      {"floats", {DType::float16, DType::bfloat16, DType::float32, DType::float64}},
      {"integers",
       {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
        DType::uint32, DType::uint64}},
      {"complex", {DType::complex64, DType::complex128}},
      {"float8",
       {DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz}},
  };
  std::vector<std::string> words;
  for (const auto& [word, family] : kFamilies) {
    if (!std::ranges::includes(types, family)) continue;
    words.emplace_back(word);
    for (const DType one : family) types.erase(one);
  }
  int unknown = 0;
  for (const DType one : types) {
    if (int(one) < kDTypeCount) {
      words.emplace_back(name_of(one));
    } else {
      ++unknown;
    }
  }
  if (unknown > 0) words.push_back(fmt::format("{} that d5 lacks", unknown));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string cost_of(const std::string& line) {
  const OperatorCase one = parse_case(line, 1);
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
  runner.forward();
  const Cost cost = runner.cost();
  return fmt::format("{:.4g} FLOP, {} B: `{}`", cost.flop, cost.bytes_read + cost.bytes_written,
                     line);
}

constexpr const char* kHead = R"(# Operators

Written by `operator_page --update` (tests/conformance), never by hand.

- Versions: the opsets that changed the meaning; each of them is there.
- Types: those of all inputs and outputs together, as ONNX's newest schemas name them.
- Gradient: how many cases hold it against central differences in every test run (`tests/level0_ops/gradients`), or why there
  is none.
- Cost: what `op bench` counts, of the first of these cases.
- A framework: how many of ONNX's cases that hold the operator pass.

| Operator | Versions | Types | Gradient | Cost |)";

std::string page(const Rows& rows, const std::vector<std::string>& frameworks) {
  std::string text = kHead;
  for (const auto& one : frameworks) text += fmt::format(" {} |", one);
  text += "\n|---|---|---|---|---|";
  for (std::size_t i = 0; i < frameworks.size(); ++i) text += "---:|";
  text += "\n";
  for (const auto& [name, row] : rows) {
    const auto& [cases, in_float32, none] = row.gradient;
    const std::string gradient = !none.empty()   ? none
                                 : cases.empty() ? "closed forms: its results are float32"
                                                 : fmt::format("{} cases", cases.size());
    const std::vector<std::string>& lines = cases.empty() ? in_float32 : cases;
    text += fmt::format("| {} | {} | {} | {} | {} |", name, fmt::join(row.versions, ", "),
                        words_of(row.types), gradient, lines.empty() ? "" : cost_of(lines.front()));
    for (const auto& one : frameworks) {
      const auto found = row.conformance.find(one);
      const Count count = found == row.conformance.end() ? Count{} : found->second;
      text += count.all == 0 ? " |" : fmt::format(" {} of {} |", count.passed, count.all);
    }
    text += "\n";
  }
  return text;
}

int run(bool update) {
  const char* cases = std::getenv("D5_ONNX_CASES");
  if (!cases) {
    fmt::print("skipped: D5_ONNX_CASES is not set; scripts/onnx_cases writes the cases\n");
    return 4;
  }
  const char* source = std::getenv("D5_SOURCE_DIR");
  const fs::path root = source ? source : ".";
  Rows rows;
  for (const auto& entry : framework("reference").part<OperatorRegistry>().list()) {
    add_schemas(entry, rows[full_name(entry.domain, entry.name)]);
  }
  for (const auto& [name, gradient] : testing::gradient_table(root)) {
    rows[name].gradient = gradient;
  }
  std::vector<std::string> frameworks;
  for (const auto& file : fs::directory_iterator(root / "tests/conformance")) {
    if (file.path().extension() != ".txt" || file.path().stem() == "CMakeLists") continue;
    frameworks.push_back(file.path().stem().string());
    add_conformance(file.path(), cases, rows);
  }
  std::ranges::sort(frameworks);
  const std::string text = page(rows, frameworks);
  const std::string path = root / "docs/operators.md";
  if (update) {
    write_file(path, text);
    return 0;
  }
  if (fs::exists(path) && read_file(path) == text) return 0;
  fmt::print("docs/operators.md is not what it would be: run operator_page --update\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool update = argc == 2 && std::strcmp(argv[1], "--update") == 0;
  if (argc > 1 && !update) {
    fmt::print(stderr, "usage: operator_page [--update]\n");
    return 2;
  }
  try {
    return run(update);
  } catch (const std::exception& error) {
    fmt::print(stderr, "operator_page: {}\n", error.what());
    return 2;
  }
}
