// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "case_tables.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::testing {

/// The lines on which operators are tried in each element type, and what they cannot show.
struct TypeTable {
  std::map<std::string, std::vector<std::string>> lines;  ///< by operator
  std::map<std::string, std::string> none;                ///< why an operator has no line
  std::map<std::string, std::string> lacks;               ///< "Operator variable type": why
};

/// A line is a case, `none OPERATOR: why`, or `lacks OPERATOR VARIABLE TYPE...: why`.
inline TypeTable read_types(const std::filesystem::path& path) {
  TypeTable table;
  for (const auto& line : table_lines(path)) {
    const std::string word = operator_of(line.text);
    if (word != "none" && word != "lacks") {
      table.lines[word].push_back(line.text);
      continue;
    }
    const auto [what, why] = exemption(line);
    std::istringstream words(what);
    std::string op, variable;
    words >> op >> variable;
    if (word == "none") table.none[op] = why;
    for (std::string type; words >> type;) {
      table.lacks[fmt::format("{} {} {}", op, variable, type)] = why;
    }
  }
  return table;
}

/// Reads element_types.txt below `source`; operators without a line of their own are tried on those
/// of their gradients. Throws: IoError, FormatError.
inline TypeTable type_table(const std::filesystem::path& source) {
  TypeTable own = read_types(source / "tests" / "level0_ops" / "ops" / "element_types.txt");
  for (const auto& [name, row] : gradient_table(source)) {
    auto& all = own.lines[name];
    all.insert(all.end(), row.cases.begin(), row.cases.end());
    all.insert(all.end(), row.in_float32.begin(), row.in_float32.end());
  }
  return own;
}

/// Converts to elements of `to`. Real numbers become small and nonnegative if `to` requires it.
inline Tensor as_type(const Tensor& from, DType to) {
  Tensor wide = from;
  if (is_floating_point(from.dtype()) && !is_floating_point(to) && to != DType::string) {
    wide = Tensor::empty({DType::float64, from.shape()});
    detail::Conversion(from.dtype(), DType::float64).run(wide.raw(), from.raw(), from.elements());
    for (double& value : wide.span<double>()) value = std::min(std::trunc(2 * std::abs(value)), 3.);
  }
  Tensor result = Tensor::empty({to, from.shape()});
  detail::Conversion(wide.dtype(), to).run(result.raw(), wide.raw(), from.elements());
  return result;
}

/// `{T}` of a line becomes the number of a type: of `type` for the variable T that is tried, of
/// float32 for any other.
inline OperatorCase case_of(std::string line, int opset, const std::string& variable, DType type) {
  for (std::size_t at = 0; (at = line.find("={", at)) != std::string::npos;) {
    const std::size_t end = line.find('}', at);
    const bool tried = line.substr(at + 2, end - at - 2) == variable;
    line.replace(at + 1, end - at, fmt::format("{}", int(tried ? type : DType::float32)));
  }
  OperatorCase result = parse_case(line, 1);
  result.node.opset = opset;
  return result;
}

/// The schema's type variables of `one`, each with its allowed types.
inline std::map<std::string, std::vector<DType>> type_variables(const OperatorCase& one,
                                                                const std::string& line,
                                                                const onnx::Schema& schema) {
  std::map<std::string, std::vector<DType>> result;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const onnx::Parameter* input = onnx::parameter(schema.inputs, i);
    if (input && one.inputs[i].is_tensor()) result[input->type] = input->element_types;
  }
  for (const onnx::Parameter& output : schema.outputs) {
    const bool by_attribute = line.find("={" + output.type + "}") != std::string::npos;
    if (by_attribute) result[output.type] = output.element_types;
  }
  result.erase("");  // one type alone
  return result;
}

/// `line` with one type for `variable`.
inline OperatorCase typed_case(const std::string& line, int opset, const onnx::Schema& schema,
                               const std::string& variable, DType type) {
  OperatorCase one = case_of(line, opset, variable, type);
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const onnx::Parameter* input = onnx::parameter(schema.inputs, i);
    if (input && input->type == variable && one.inputs[i].is_tensor())
      one.inputs[i] = as_type(one.inputs[i].tensor(), type);
  }
  return one;
}

}  // namespace d5::testing
