// SPDX-License-Identifier: Apache-2.0
// Every element type that ONNX's schemas name, in every opset version: the reference takes it, or
// element_types.txt says why not.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/level0_ops/typed_cases.hpp"

using namespace d5;
using testing::as_type;
using testing::case_of;
using testing::type_variables;
using testing::typed_case;

namespace {

const OperatorRegistry& reference() { return framework("reference").part<OperatorRegistry>(); }

const testing::TypeTable& table() {
  static const testing::TypeTable result = [] {
    const char* source = std::getenv("D5_SOURCE_DIR");
    if (!source) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
    return testing::type_table(source);
  }();
  return result;
}

OperatorRunner run(const onnx::Node& node, const std::vector<Value>& inputs) {
  OperatorRunner runner(reference(), node, inputs, Mode::inference, Guard::on);
  runner.forward();
  return runner;
}

/// Those that run in `opset`: other versions have other inputs and attributes.
std::vector<std::string> lines_in(int opset, const std::vector<std::string>& lines) {
  std::vector<std::string> result;
  for (const std::string& line : lines) {
    try {
      const OperatorCase one = case_of(line, opset, "", DType::float32);
      (void)run(one.node, one.inputs);
      result.push_back(line);
    } catch (const Error&) {
    }
  }
  return result;
}

/// Whether the results of `one`, whose tried type is `type`, are those of `wide`, rounded.
bool is_rounded(const OperatorCase& one, OperatorCase wide, DType type) {
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (!one.inputs[i].is_tensor()) continue;
    wide.inputs[i] = as_type(one.inputs[i].tensor(), wide.inputs[i].tensor().dtype());
  }
  const OperatorRunner got = run(one.node, one.inputs), exact = run(wide.node, wide.inputs);
  for (std::size_t k = 0; k < got.output_count(); ++k) {
    if (!got.output(k).is_tensor()) continue;
    Value expected = exact.output(k);
    if (got.output(k).tensor().dtype() == type) expected = as_type(expected.tensor(), type);
    if (!compare_values(got.output(k), expected, {0, 0}).equal) return false;
  }
  return true;
}

/// The types one of which computes exactly what `type` rounds; none for those that are no smaller.
std::vector<DType> wider(DType type) {
  if (is_floating_point(type)) {
    return size_of(type) < 4 ? std::vector{DType::float32, DType::float64} : std::vector<DType>{};
  }
  if (!is_integer(type)) return {};
  return {name_of(type).starts_with("u") ? DType::uint64 : DType::int64};
}

/// The rows of the table that some line has shown to be true.
std::set<std::string> shown;

/// Requires that `line` runs with `type`, or that the table says that some do not.
void check_type(const std::string& name, const std::string& line, const onnx::Schema& schema,
                const std::string& variable, DType type, const std::vector<DType>& types,
                int opset) {
  const std::string what = fmt::format("{} {} {}", name, variable, name_of(type));
  INFO(what << " in opset " << opset << ": " << line);
  const OperatorCase one = typed_case(line, opset, schema, variable, type);
  try {
    (void)run(one.node, one.inputs);
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(table().lacks.contains(what));
    shown.insert(what);
    return;
  }
  std::vector<DType> judges = wider(type);
  std::erase_if(judges, [&](DType wide) { return !std::ranges::count(types, wide); });
  const auto agrees = [&](DType wide) {
    return is_rounded(one, typed_case(line, opset, schema, variable, wide), type);
  };
  CHECK((judges.empty() || std::ranges::any_of(judges, agrees)));
}

/// In every opset version, with every type.
void check_operator(const std::string& name, const OperatorRegistry::Entry& entry,
                    const std::vector<std::string>& lines) {
  for (int opset = onnx::newest_opset(entry.domain); opset >= entry.since; --opset) {
    onnx::Node node;
    node.op_type = entry.name;
    node.domain = entry.domain;
    node.opset = opset;
    const auto schema = onnx::schema_of(node);
    if (!schema || opset > entry.until) continue;
    INFO(name << " in opset " << opset);
    const auto running = lines_in(opset, lines);
    CHECK_FALSE(running.empty());
    for (const std::string& line : running) {
      const OperatorCase one = case_of(line, opset, "", DType::float32);
      for (const auto& [variable, types] : type_variables(one, line, *schema)) {
        for (const DType type : types) {
          check_type(name, line, *schema, variable, type, types, opset);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("the reference takes every element type that a schema names, or the table says why not") {
  for (const auto& entry : reference().list()) {
    const std::string name = entry.domain.empty() ? entry.name : entry.domain + "." + entry.name;
    if (table().none.contains(name)) continue;
    const auto lines = table().lines.find(name);
    INFO(name);
    CHECK(lines != table().lines.end());
    if (lines != table().lines.end()) check_operator(name, entry, lines->second);
  }
  for (const auto& [row, why] : table().lacks) {
    INFO("lacks " << row << ": " << why);
    CHECK(shown.contains(row));
  }
}

TEST_CASE("constants are of every element type") {
  for (const std::string line : {"Constant", "ConstantOfShape int64:{1}"}) {
    OperatorCase one = parse_case(line);
    while (const auto schema = onnx::schema_of(one.node)) {
      for (const DType type : schema->outputs[0].element_types) {
        INFO(line << " of " << name_of(type) << " in opset " << one.node.opset);
        one.node.attributes["value"] = as_type(Tensor::of<float>({1}, std::vector{1.f}), type);
        const OperatorRunner runner = run(one.node, one.inputs);
        CHECK(runner.output(0).desc().tensor.dtype == type);
      }
      --one.node.opset;
    }
  }
}

TEST_CASE("sequences are of every element type") {
  const auto insertion = onnx::schema_of(parse_case("SequenceInsert - 2").node);
  for (const std::string line : {"ConcatFromSequence - axis=0", "SequenceAt - int64:scalar{0}",
                                 "SequenceErase -", "SequenceInsert - 2", "SequenceLength -"}) {
    OperatorCase one = parse_case(line);
    one.node.inputs[0] = "sequence";
    for (const DType type : insertion->inputs[1].element_types) {
      INFO(line << " of " << name_of(type));
      const Tensor item = as_type(Tensor::of<float>({2}, std::vector{1.f, 2.f}), type);
      one.inputs[0] = Sequence{item.desc(), {item, item}};
      if (one.node.op_type == "SequenceInsert") one.inputs[1] = item;
      CHECK_NOTHROW(run(one.node, one.inputs));
    }
  }
}
