// SPDX-License-Identifier: Apache-2.0
// Writes d5/onnx/nodes.hpp, the typed views of every operator's node, from ONNX's schemas.
// Runs while d5 is built: generate_node_views <file>. node_view.hpp documents the views.
#include <fmt/format.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/contrib_schemas.hpp"

namespace {

using onnx::AttributeProto;
using onnx::OpSchema;

/// The schemas of one operator, the oldest first.
using History = std::vector<OpSchema>;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c < 0x20 || c >= 0x7f) throw std::runtime_error("a default has an unprintable character");
    result += char(c);
  }
  return result + '"';
}

/// `name` as a C++ identifier: other characters are dropped, keywords get an underscore.
std::string identifier(std::string_view name) {
  static constexpr std::string_view kKeywords[] = {
      "alignas",       "alignof",     "and",
      "and_eq",        "asm",         "auto",
      "bitand",        "bitor",       "bool",
      "break",         "case",        "catch",
      "char",          "char16_t",    "char32_t",
      "char8_t",       "class",       "co_await",
      "co_return",     "co_yield",    "compl",
      "concept",       "const",       "const_cast",
      "consteval",     "constexpr",   "constinit",
      "continue",      "decltype",    "default",
      "delete",        "do",          "double",
      "dynamic_cast",  "else",        "enum",
      "explicit",      "export",      "extern",
      "false",         "float",       "for",
      "friend",        "goto",        "if",
      "inline",        "int",         "long",
      "mutable",       "namespace",   "new",
      "noexcept",      "not",         "not_eq",
      "nullptr",       "operator",    "or",
      "or_eq",         "private",     "protected",
      "public",        "register",    "reinterpret_cast",
      "requires",      "return",      "short",
      "signed",        "sizeof",      "static",
      "static_assert", "static_cast", "struct",
      "switch",        "template",    "this",
      "thread_local",  "throw",       "true",
      "try",           "typedef",     "typeid",
      "typename",      "union",       "unsigned",
      "using",         "virtual",     "void",
      "volatile",      "wchar_t",     "while",
      "xor",           "xor_eq"};
  std::string result;
  for (const unsigned char c : name) {
    if (std::isalnum(c) || c == '_') result += char(c);
  }
  const bool is_keyword =
      std::find(std::begin(kKeywords), std::end(kKeywords), result) != std::end(kKeywords);
  if (is_keyword || result == "node") result += '_';  // conflicts with NodeView::node()
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result.insert(0, "_");
  return result;
}

std::string type_of(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::INT:
      return "std::int64_t";
    case AttributeProto::FLOAT:
      return "float";
    case AttributeProto::STRING:
      return "std::string";
    case AttributeProto::INTS:
      return "std::vector<std::int64_t>";
    case AttributeProto::FLOATS:
      return "std::vector<float>";
    case AttributeProto::STRINGS:
      return "std::vector<std::string>";
    case AttributeProto::TENSOR:
      return "::d5::Tensor";
    case AttributeProto::TENSORS:
      return "std::vector<::d5::Tensor>";
    case AttributeProto::SPARSE_TENSOR:
      return "::d5::onnx::SparseTensor";
    case AttributeProto::GRAPH:
      return "std::shared_ptr<const ::d5::onnx::Graph>";
    case AttributeProto::GRAPHS:
      return "std::vector<std::shared_ptr<const ::d5::onnx::Graph>>";
    case AttributeProto::TYPE_PROTO:
      return "::d5::onnx::Type";
    case AttributeProto::TYPE_PROTOS:
      return "std::vector<::d5::onnx::Type>";
    default:
      throw std::runtime_error("an attribute has a type without a C++ counterpart");
  }
}

/// A default as a C++ expression of `type_of` its type.
std::string literal(const AttributeProto& value) {
  const auto floating = [](float x) {
    std::string digits = fmt::format("{:.9g}", x);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    return digits + 'f';
  };
  const auto integer = [](std::int64_t x) {
    return x == std::numeric_limits<std::int64_t>::min() ? std::string("INT64_MIN")
                                                         : fmt::format("std::int64_t{{{}}}", x);
  };
  const auto list = [&](const auto& items, auto&& one) {
    std::string inner;
    for (const auto& item : items) inner += (inner.empty() ? "" : ", ") + one(item);
    return fmt::format("{}{{{}}}", type_of(value.type()), inner);
  };
  switch (value.type()) {
    case AttributeProto::INT:
      return integer(value.i());
    case AttributeProto::FLOAT:
      return floating(value.f());
    case AttributeProto::STRING:
      return fmt::format("std::string({})", quoted(value.s()));
    case AttributeProto::INTS:
      return list(value.ints(), integer);
    case AttributeProto::FLOATS:
      return list(value.floats(), floating);
    case AttributeProto::STRINGS:
      return list(value.strings(), [](const auto& s) { return quoted(s); });
    default:
      throw std::runtime_error("a default is neither a number nor a word");
  }
}

/// An attribute in all versions with the same type.
struct AttributeHistory {
  struct Version {
    int since = 0;
    bool required = false;
    std::optional<std::string> fallback;
  };
  std::string name;
  AttributeProto::AttributeType type = AttributeProto::UNDEFINED;
  std::vector<Version> versions;
  bool newest_type = true;
};

std::vector<AttributeHistory> attributes_of(const History& history) {
  std::map<std::pair<std::string, int>, AttributeHistory> found;
  std::map<std::string, int> newest_type;
  for (const OpSchema& schema : history) {
    for (const auto& [name, attribute] : schema.attributes()) {
      AttributeHistory& entry = found[{name, int(attribute.type)}];
      entry.name = name;
      entry.type = attribute.type;
      AttributeHistory::Version version{schema.SinceVersion(), attribute.required, std::nullopt};
      if (attribute.default_value.type() != AttributeProto::UNDEFINED) {
        version.fallback = literal(attribute.default_value);
        // GRU-1 misspells its default.
        if (version.fallback == "std::string(\"foward\")")
          version.fallback = "std::string(\"forward\")";
      }
      entry.versions.push_back(std::move(version));
      newest_type[name] = int(attribute.type);
    }
  }
  std::vector<AttributeHistory> result;
  for (auto& [key, entry] : found) {
    entry.newest_type = newest_type[key.first] == key.second;
    result.push_back(std::move(entry));
  }
  return result;
}

/// `of_version(v)` for the version of the node's opset, as a chain of conditions.
template <class F>
std::string chain(const std::vector<AttributeHistory::Version>& versions, F&& of_version) {
  std::vector<std::pair<int, std::string>> steps;
  for (const auto& version : versions) {
    std::string text = of_version(version);
    if (steps.empty() || steps.back().second != text) steps.emplace_back(version.since, text);
  }
  std::string result;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    result += std::next(step) == steps.rend()
                  ? step->second
                  : fmt::format("node().opset >= {} ? {} : ", step->first, step->second);
  }
  return result;
}

std::string accessor(const AttributeHistory& attribute) {
  using Version = AttributeHistory::Version;
  const auto& versions = attribute.versions;
  const std::string type = type_of(attribute.type);
  std::string function = identifier(attribute.name);
  std::string comment;
  if (!attribute.newest_type) {
    function += fmt::format("_v{}", versions.front().since);
    comment = fmt::format("  /// `{}` in schema version {} and before.\n", attribute.name,
                          versions.back().since);
  }
  const bool required =
      std::all_of(versions.begin(), versions.end(), [](const Version& v) { return v.required; });
  const bool defaulted = std::all_of(versions.begin(), versions.end(),
                                     [](const Version& v) { return v.fallback.has_value(); });
  std::string result = type, body;
  if (required) {
    body = fmt::format("required_attribute<{}>({})", type, quoted(attribute.name));
  } else if (defaulted) {
    body = fmt::format("attribute_or<{}>({}, {})", type, quoted(attribute.name),
                       chain(versions, [](const Version& v) { return *v.fallback; }));
  } else {
    result = fmt::format("std::optional<{}>", type);
    body = fmt::format("optional_attribute<{}>({})", type, quoted(attribute.name));
    if (std::any_of(versions.begin(), versions.end(),
                    [](const Version& v) { return bool(v.fallback); })) {
      const std::string given = body;
      body = fmt::format("has_attribute({}) ? {} : {}", quoted(attribute.name), given,
                         chain(versions, [&](const Version& v) {
                           return v.fallback ? fmt::format("{}({})", result, *v.fallback)
                                             : result + "()";
                         }));
    }
  }
  return fmt::format("{}  [[nodiscard]] {} {}() const {{\n    return {};\n  }}\n", comment, result,
                     function, body);
}

/// Names of inputs or outputs over all versions, at their newest index.
template <class List>
std::string names(std::string_view holder, const History& history, List&& list) {
  std::map<std::string, std::size_t> place;
  for (const OpSchema& schema : history) {
    const auto& parameters = list(schema);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      place[identifier(parameters[i].GetName())] = i;
    }
  }
  if (place.empty()) return {};
  std::vector<std::pair<std::size_t, std::string>> ordered;
  for (const auto& [name, index] : place) ordered.emplace_back(index, name);
  std::sort(ordered.begin(), ordered.end());
  std::string inner;
  for (const auto& [index, name] : ordered) {
    inner += fmt::format("{}{} = {}", inner.empty() ? "" : ", ", name, index);
  }
  return fmt::format("  struct {} {{\n    enum : std::size_t {{ {} }};\n  }};\n", holder, inner);
}

std::string view(const std::string& domain, const std::string& name, const History& history) {
  std::string versions;
  for (const OpSchema& schema : history) {
    versions += fmt::format("{}{}", versions.empty() ? "" : ", ", schema.SinceVersion());
  }
  std::string result = fmt::format(
      "class {0} final : public NodeView {{\n public:\n"
      "  static constexpr std::string_view kName = {1};\n"
      "  static constexpr std::string_view kDomain = {2};\n"
      "  static constexpr std::array<int, {3}> kSinceVersions = {{{4}}};\n",
      identifier(name), quoted(name), quoted(domain), history.size(), versions);
  result += names("In", history, [](const OpSchema& s) -> const auto& { return s.inputs(); });
  result += names("Out", history, [](const OpSchema& s) -> const auto& { return s.outputs(); });
  result += "  using NodeView::NodeView;\n";
  for (const AttributeHistory& attribute : attributes_of(history)) result += accessor(attribute);
  return result + "};\n\n";
}

/// ai.onnx: "", ai.onnx.ml: "ml", ai.onnx.preview.training: "training".
std::string namespace_of(const std::string& domain) {
  return domain.empty() ? "" : identifier(domain.substr(domain.rfind('.') + 1));
}

std::string header() {
  std::map<std::string, std::map<std::string, History>> domains;
  const auto add = [&](const OpSchema& schema) {
    domains[schema.domain()][schema.Name()].push_back(schema);
  };
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) add(schema);
  const auto of_onnx = domains;  // versions older than ONNX's belong to the domain's own operator
  d5::onnx::detail::add_contrib_schemas();
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    const auto domain = of_onnx.find(schema.domain());
    if (domain == of_onnx.end() || !domain->second.contains(schema.Name())) add(schema);
  }
  std::string result =
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// Generated from ONNX's schemas by src/onnx/generator/node_views.cpp.\n"
      "#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n\n"
      "#include \"d5/onnx/node_view.hpp\"\n\nnamespace d5::onnx::nodes {\n\n";
  for (auto& [domain, operators] : domains) {
    const std::string inner = namespace_of(domain);
    if (!inner.empty()) result += fmt::format("namespace {} {{\n\n", inner);
    for (auto& [name, history] : operators) {
      std::sort(history.begin(), history.end(),
                [](const auto& a, const auto& b) { return a.SinceVersion() < b.SinceVersion(); });
      result += view(domain, name, history);
    }
    if (!inner.empty()) result += fmt::format("}}  // namespace {}\n\n", inner);
  }
  return result + "}  // namespace d5::onnx::nodes\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: generate_node_views FILE\n");
    return 2;
  }
  const std::string text = header();
  std::ifstream old(argv[1]);
  std::ostringstream there;
  there << old.rdbuf();
  if (old && there.str() == text) return 0;  // unchanged: no dependent is recompiled
  std::ofstream file(argv[1]);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", argv[1]));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "generate_node_views: %s\n", e.what());
  return 1;
}
