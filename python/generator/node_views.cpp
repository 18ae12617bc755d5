// SPDX-License-Identifier: Apache-2.0
// Writes d5/nodes.py, the typed Python views of every operator's node, from ONNX's schemas. Runs
// during the build: generate_python_node_views FILE. d5/_node_view.py describes a view.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/contrib_schemas.hpp"

namespace {

using onnx::AttributeProto;
using onnx::OpSchema;

using History = std::vector<OpSchema>;  // versions of one operator, oldest first

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c < 0x20 || c >= 0x7f) throw std::runtime_error("a text has an unprintable character");
    result += char(c);
  }
  return result + '"';
}

std::string type_of(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::INT:
      return "int";
    case AttributeProto::FLOAT:
      return "float";
    case AttributeProto::STRING:
      return "str";
    case AttributeProto::INTS:
      return "list[int]";
    case AttributeProto::FLOATS:
      return "list[float]";
    case AttributeProto::STRINGS:
      return "list[str]";
    case AttributeProto::TENSOR:
      return "Tensor";
    case AttributeProto::TENSORS:
      return "list[Tensor]";
    default:
      return "Any";
  }
}

std::string literal(const AttributeProto& value) {
  const auto list = [](const auto& items, auto&& one) {
    std::vector<std::string> texts;
    for (const auto& item : items) texts.push_back(one(item));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  };
  const auto integer = [](std::int64_t x) { return fmt::format("{}", x); };
  // The default as a node's 32-bit value is read.
  const auto real = [](float x) {
    const std::string digits = fmt::format("{}", double(x));
    return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
  };
  switch (value.type()) {
    case AttributeProto::INT:
      return integer(value.i());
    case AttributeProto::FLOAT:
      return real(value.f());
    case AttributeProto::STRING:  // GRU-1 misspells its own word
      return quoted(value.s() == "foward" ? "forward" : value.s());
    case AttributeProto::INTS:
      return list(value.ints(), integer);
    case AttributeProto::FLOATS:
      return list(value.floats(), real);
    case AttributeProto::STRINGS:
      return list(value.strings(), quoted);
    default:
      throw std::runtime_error("a default is neither a number nor a word");
  }
}

/// A tuple of names; a variadic one has a star.
std::string names(const std::vector<OpSchema::FormalParameter>& parameters) {
  std::string inner;
  for (const auto& one : parameters) {
    const bool variadic = one.GetOption() == OpSchema::Variadic;
    inner += quoted((variadic ? "*" : "") + one.GetName()) + ", ";
  }
  return "(" + inner + ")";
}

/// Types that a name has over all versions.
using Types = std::map<std::string, std::set<std::string>>;

void add_types(const std::vector<OpSchema::FormalParameter>& parameters, Types& types) {
  for (const auto& one : parameters) {
    const bool variadic = one.GetOption() == OpSchema::Variadic;
    types[one.GetName()].insert(variadic ? "list[str]" : "str");
  }
}

std::string version(const OpSchema& schema, Types& types) {
  add_types(schema.inputs(), types);
  add_types(schema.outputs(), types);
  std::string attributes;
  for (const auto& [name, attribute] : schema.attributes()) {
    const bool has_default = attribute.default_value.type() != AttributeProto::UNDEFINED;
    types[name].insert(type_of(attribute.type));
    if (!has_default && !attribute.required) types[name].insert("None");
    attributes += fmt::format("{}: {}, ", quoted(name),
                              has_default          ? literal(attribute.default_value)
                              : attribute.required ? "REQUIRED"
                                                   : "None");
  }
  return fmt::format("        ({}, {}, {}, {{{}}}),\n", schema.SinceVersion(),
                     names(schema.inputs()), names(schema.outputs()), attributes);
}

bool is_name(const std::string& name) {
  static const std::set<std::string> taken = {"name",   "op_type", "domain",     "opset",
                                              "inputs", "outputs", "attributes", "graphs",
                                              "node",   "is",      "in",         "lambda"};
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !taken.contains(name) && std::all_of(name.begin(), name.end(), is_letter);
}

std::string view(const std::string& class_name, const History& history) {
  Types types;
  std::string versions;
  for (const OpSchema& schema : history) versions += version(schema, types);
  std::string result = fmt::format("class {}(NodeView):\n", class_name);
  for (const auto& [name, several] : types) {
    if (is_name(name)) result += fmt::format("    {}: {}\n", name, fmt::join(several, " | "));
  }
  return result + "    _versions = (\n" + versions + "    )\n\n\n";
}

/// "Conv"; "ml_Scaler" for ai.onnx.ml.
std::string class_name(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain.substr(domain.rfind('.') + 1) + "_" + name;
}

std::string module() {
  std::map<std::pair<std::string, std::string>, History> operators;
  const auto add = [&](const OpSchema& schema) {
    operators[{schema.domain(), schema.Name()}].push_back(schema);
  };
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) add(schema);
  const auto of_onnx = operators;  // versions older than ONNX's are the operator's own
  d5::onnx::detail::add_contrib_schemas();
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!of_onnx.contains({schema.domain(), schema.Name()})) add(schema);
  }
  std::string result =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Generated from ONNX's schemas by python/generator/node_views.cpp.\n"
      "\"\"\"Typed views of nodes: inputs, outputs and attributes by name, with the defaults of "
      "the "
      "node's opset.\"\"\"\n\n"
      "from typing import Any\n\nfrom d5._d5 import Tensor\n"
      "from d5._node_view import REQUIRED, NodeView\n\n\n";
  std::string views = "VIEWS: dict[tuple[str, str], type[NodeView]] = {\n";
  for (auto& [key, history] : operators) {
    std::sort(history.begin(), history.end(),
              [](const auto& a, const auto& b) { return a.SinceVersion() < b.SinceVersion(); });
    const std::string name = class_name(key.first, key.second);
    result += view(name, history);
    views += fmt::format("    ({}, {}): {},\n", quoted(key.first), quoted(key.second), name);
  }
  return result + views + "}\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: generate_python_node_views FILE\n");
    return 2;
  }
  std::ofstream file(argv[1]);
  file << module();
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", argv[1]));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "generate_python_node_views: %s\n", e.what());
  return 1;
}
