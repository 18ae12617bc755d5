// SPDX-License-Identifier: Apache-2.0
// Writes data/operators/FRAMEWORK.csv: the operators that a framework has, the element types in
// which they run forward and backward, tried on the lines of tests/level0_ops/ops/element_types.txt
// and gradients/, and how many of ONNX's cases pass, from its table. Without --update it compares.
//
//   operator_support FRAMEWORK [--update]
//
// The cases are those of D5_ONNX_CASES. Exit status: 0 the file is as it would be written, 1 it is
// not, 2 something is missing, 4 skipped.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "conformance/availability.hpp"
#include "conformance/case_table.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level0_ops/operator/operator_support.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/onnx/file.hpp"
#include "isolated.hpp"
#include "level0_ops/typed_cases.hpp"

namespace {

namespace fs = std::filesystem;
using namespace d5;

constexpr int kMostSeconds = 60;  // time limit for all types of an operator

/// Whether `one` runs, with its gradient in training; a gradient of ones is given.
bool runs(const OperatorCase& one, const OperatorRegistry& registry, Mode mode) {
  try {
    OperatorRunner runner(registry, one.node, one.inputs, mode);
    runner.forward();
    if (mode == Mode::inference) return true;
    std::vector<Tensor> gradients;
    for (std::size_t k = 0; k < runner.output_count(); ++k) {
      const Value& output = runner.output(k);
      const bool real = output.is_tensor() && is_floating_point(output.tensor().dtype());
      gradients.push_back(real ? Tensor::zeros(output.tensor().desc()) : Tensor());
    }
    runner.backward(gradients);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Adds the types in which `line` runs in `opset`; returns the newest opset before that with
/// another meaning, 0 if there is none.
int add_types(std::set<DType>& types, const std::string& line, int opset,
              const OperatorRegistry& registry, Mode mode) {
  OperatorCase plain = testing::case_of(line, opset, "", DType::float32);
  const auto schema = onnx::schema_of(plain.node);
  if (!schema) return 0;
  for (const auto& [variable, known] : testing::type_variables(plain, line, *schema)) {
    for (const DType type : known) {
      if (types.contains(type)) continue;
      if (mode == Mode::training && !is_floating_point(type)) continue;
      const OperatorCase one = testing::typed_case(line, opset, *schema, variable, type);
      if (runs(one, registry, mode)) types.insert(type);
    }
  }
  return schema->since - 1;
}

/// The types in which some line runs, each in the newest opset in which it does.
std::vector<DType> types_of(const std::vector<std::string>& lines, const OperatorRegistry& registry,
                            Mode mode) {
  std::set<DType> types;
  for (const std::string& line : lines) {
    const std::string domain = testing::case_of(line, 1, "", DType::float32).node.domain;
    const std::size_t before = types.size();
    for (int opset = onnx::newest_opset(domain); opset > 0 && types.size() == before;) {
      if (!types.empty() && opset != onnx::newest_opset(domain)) break;  // it runs in a newer one
      opset = add_types(types, line, opset, registry, mode);
    }
  }
  return {types.begin(), types.end()};
}

/// Cases of ONNX's that hold an operator.
struct Count {
  int passed = 0, all = 0;
};

/// Counts of cases by the operators of their outermost graphs.
std::map<std::string, Count> conformance_of(const std::string& table, const std::string& folder) {
  const auto cases = conformance::find_cases(folder, "");
  std::map<std::string, Count> counts;
  for (const auto& [name, result] : conformance::read_table(table, cases).expected) {
    if (!name.starts_with("node/")) continue;
    std::set<std::string> operators;
    for (const auto& node : onnx::load(cases.at(name) + "/model.onnx").graph.nodes) {
      operators.insert(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
    }
    for (const auto& one : operators) {
      ++counts[one].all;
      counts[one].passed += result.outcome == conformance::Outcome::passed;
    }
  }
  return counts;
}

/// The last line of a file.
std::string line_of(const OperatorSupport& row) {
  const std::string text = to_csv({row});
  return text.substr(text.find('\n') + 1);
}

/// Tries types in a process of its own: an operator that crashes supports none.
void try_types(std::vector<OperatorSupport>& rows, const OperatorRegistry& registry,
               const std::map<std::string, std::vector<std::string>>& lines) {
  const auto answers = run_isolated(
      rows.size(),
      [&](std::size_t i) {
        OperatorSupport row = rows[i];
        if (const auto own = lines.find(row.name); own != lines.end()) {
          row.types = types_of(own->second, registry, Mode::inference);
          row.gradient_types = types_of(own->second, registry, Mode::training);
        }
        const std::string line = line_of(row);
        return line.substr(0, line.size() - 1);
      },
      [](const std::string&) { return std::string(); }, kMostSeconds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (answers[i].empty()) continue;
    const std::string text = to_csv({}) + answers[i] + "\n";
    rows[i] = operator_support_from_csv(text, rows[i].framework, rows[i].name).front();
  }
}

int run_support(const std::string& name, bool update) {
  const char* cases = std::getenv("D5_ONNX_CASES");
  if (!cases) {
    fmt::print("skipped: D5_ONNX_CASES is not set; scripts/onnx_cases writes the cases\n");
    return 4;
  }
  if (const auto absent = conformance::why_absent(name, ""); !absent.empty()) {
    fmt::print("skipped: {}\n", absent);
    return 4;
  }
  const char* source = std::getenv("D5_SOURCE_DIR");
  const fs::path root = source ? source : ".";
  const auto lines = testing::type_table(root).lines;
  const auto counts = conformance_of(root / "tests/conformance" / (name + ".txt"), cases);
  const auto& registry = framework(name).part<OperatorRegistry>();
  auto rows = operator_support(registry);
  for (auto& row : rows) {
    const auto count = counts.find(row.name);
    if (count == counts.end()) continue;
    row.passed = count->second.passed;
    row.cases = count->second.all;
  }
  try_types(rows, registry, lines);
  const std::string text = to_csv(rows);
  const std::string path = root / "data/operators" / (name + ".csv");
  if (update) {
    write_file(path, text);
    return 0;
  }
  if (fs::exists(path) && read_file(path) == text) return 0;
  fmt::print("{} is not what it would be: run operator_support {} --update\n", path, name);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool update = argc == 3 && std::strcmp(argv[2], "--update") == 0;
  if (argc != 2 && !update) {
    fmt::print(stderr, "usage: operator_support FRAMEWORK [--update]\n");
    return 2;
  }
  // oneDNN's support depends on the processor: bfloat16 needs AVX-512. The file has what every
  // processor supports.
  setenv("DNNL_MAX_CPU_ISA", "SSE41", 1);
  try {
    return run_support(argv[1], update);
  } catch (const std::exception& error) {
    fmt::print(stderr, "operator_support: {}\n", error.what());
    return 2;
  }
}
