// SPDX-License-Identifier: Apache-2.0
// Writes docs/reference/operators.md: what is known of every operator, from ONNX's schemas,
// data/operators and the tables of tests/level0_ops/gradients. Without --update it compares.
//
//   operator_page [--update]
//
// Exit status: 0 the page is as it would be written, 1 it is not, 2 something is missing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator_support.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/case_tables.hpp"

namespace {

namespace fs = std::filesystem;
using namespace d5;

std::string full_name(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

/// All that the page says of one operator.
struct Row {
  std::vector<int> versions;
  std::set<DType> types;
  testing::GradientRow gradient;
  std::map<std::string, OperatorSupport> frameworks;
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

std::string cost_of(const std::string& line) {
  const OperatorCase one = parse_case(line, 1);
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
  runner.forward();
  const Cost cost = runner.cost();
  return fmt::format("| `{}` | {:.4g} | {} |\n", line, cost.flop,
                     cost.bytes_read + cost.bytes_written);
}

constexpr const char* kHead = R"(# Operators

Written by `operator_page --update` (tests/conformance), never by hand; `d5 list operators` shows
the same for what is installed.

## Frameworks

- Versions: the opsets that changed the meaning; d5 has each of them.
- Gradient: the number of cases that compare it with central differences in every test run
  (`tests/level0_ops/gradients`), or why there is none.
- A framework: how many of ONNX's cases with the operator pass, and ∇ if it has the gradient; "yes"
  if ONNX has no case and some line of the element types below runs. If a framework lacks an
  operator, the next one of a mix (`--framework torch+reference`) runs the node.
)";

constexpr const char* kTypes = R"(
## Element types

- ONNX: the types of all inputs and outputs together, as the newest schemas name them.
- A framework: the types in which some line of `tests/level0_ops/ops/element_types.txt` or
  `gradients/` runs; in brackets those of its gradient, if they differ from the floats among them.
  oneDNN: on every x86-64 processor; with AVX-512 also bfloat16.
)";

constexpr const char* kCost = R"(
## Cost

FLOP and bytes as `op bench` counts them, for the first case of each operator's gradient tests.
)";

constexpr const char* kContrib = R"(
## Operators outside ONNX

Operators that converters and optimizers write into models beside ONNX's. ONNX has no schema of
them; d5 checks them by its own (`src/onnx/contrib_schemas.cpp`).
)";

std::string head_of(const std::vector<std::string>& columns, std::string_view rule) {
  std::string text = "\n|", line = "|";
  for (const auto& column : columns) {
    text += fmt::format(" {} |", column);
    line += rule;
  }
  return text + "\n" + line + "\n";
}

std::string gradient_of(const Row& row) {
  const auto& [cases, in_float32, none] = row.gradient;
  if (!none.empty()) return none;
  if (cases.empty()) return "closed forms: its results are float32";
  return fmt::format("{} cases", cases.size());
}

std::string share_of(const OperatorSupport& one) {
  const std::string share = one.cases == 0 ? "yes" : fmt::format("{}/{}", one.passed, one.cases);
  return share + (one.gradient_types.empty() ? "" : " ∇");
}

std::string types_of(const OperatorSupport& one) {
  const std::set<DType> types(one.types.begin(), one.types.end());
  const std::set<DType> gradient(one.gradient_types.begin(), one.gradient_types.end());
  std::set<DType> floats;
  std::ranges::copy_if(types, std::inserter(floats, floats.end()), is_floating_point);
  const bool others = !gradient.empty() && gradient != floats;
  return type_words(types) + (others ? " [" + type_words(gradient) + "]" : "");
}

/// Whom an operator is offered to is not who can run it: leaves out where neither a case of ONNX's
/// nor a type was found, though elsewhere a type was.
void leave_out_offers(Row& row) {
  const auto runs = [](const auto& one) { return !one.second.types.empty(); };
  if (std::ranges::none_of(row.frameworks, runs)) return;
  std::erase_if(row.frameworks,
                [&](const auto& one) { return one.second.cases == 0 && !runs(one); });
}

/// A row an operator, a cell a framework, as `cell` says.
std::string rows_of(const Rows& rows, const std::vector<std::string>& frameworks,
                    const std::function<std::string(const Row&)>& first,
                    const std::function<std::string(const OperatorSupport&)>& cell) {
  std::string text;
  for (const auto& [name, row] : rows) {
    text += fmt::format("| {} | {} |", name, first(row));
    for (const auto& one : frameworks) {
      const auto found = row.frameworks.find(one);
      text += found == row.frameworks.end() ? " |" : fmt::format(" {} |", cell(found->second));
    }
    text += "\n";
  }
  return text;
}

std::string page(const Rows& rows, const std::vector<std::string>& frameworks) {
  std::vector<std::string> columns = {"Operator", "Versions", "Gradient"};
  columns.insert(columns.end(), frameworks.begin(), frameworks.end());
  std::string text = kHead + head_of(columns, "---|");
  const auto versions = [](const Row& row) {
    return fmt::format("{} | {}", fmt::join(row.versions, ", "), gradient_of(row));
  };
  text += rows_of(rows, frameworks, versions, share_of);
  columns = {"Operator", "ONNX"};
  columns.insert(columns.end(), frameworks.begin(), frameworks.end());
  text += kTypes + head_of(columns, "---|");
  text += rows_of(rows, frameworks, [](const Row& row) { return type_words(row.types); }, types_of);
  text += kCost + head_of({"Case", "FLOP", "bytes"}, "---|");
  for (const auto& [name, row] : rows) {
    const auto& lines = row.gradient.cases.empty() ? row.gradient.in_float32 : row.gradient.cases;
    if (!lines.empty()) text += cost_of(lines.front());
  }
  return text;
}

/// Of tests/level0_ops/ops/contrib_operators.txt: `OPERATOR: who writes it`.
std::string contrib_rows(const Rows& rows, const fs::path& root) {
  std::string text = kContrib + head_of({"Operator", "Written by", "d5"}, "---|");
  for (const auto& line :
       testing::table_lines(root / "tests/level0_ops/ops/contrib_operators.txt")) {
    const auto colon = line.text.find(": ");
    if (colon == std::string::npos) {
      throw FormatError(fmt::format("{}: '{}', expected 'OPERATOR: who writes it'", line.place,
                                    printable(line.text)));
    }
    const std::string name = line.text.substr(0, colon);
    text += fmt::format("| {} | {} |{} |\n", name, line.text.substr(colon + 2),
                        rows.contains(name) ? " yes" : "");
  }
  return text;
}

int run(bool update) {
  const char* source = std::getenv("D5_SOURCE_DIR");
  const fs::path root = source ? source : ".";
  Rows rows;
  for (const auto& entry : framework("reference").part<OperatorRegistry>().list()) {
    add_schemas(entry, rows[full_name(entry.domain, entry.name)]);
  }
  for (const auto& [name, gradient] : testing::gradient_table(root)) {
    rows[name].gradient = gradient;
  }
  std::set<std::string> frameworks;
  for (const auto& one : operator_support()) {
    frameworks.insert(one.framework);
    if (const auto row = rows.find(one.name); row != rows.end()) {
      row->second.frameworks[one.framework] = one;
    }
  }
  for (auto& [name, row] : rows) leave_out_offers(row);
  const std::string text =
      page(rows, {frameworks.begin(), frameworks.end()}) + contrib_rows(rows, root);
  const std::string path = root / "docs/reference/operators.md";
  if (update) {
    write_file(path, text);
    return 0;
  }
  if (fs::exists(path) && read_file(path) == text) return 0;
  fmt::print("docs/reference/operators.md is not what it would be: run operator_page --update\n");
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
