// SPDX-License-Identifier: Apache-2.0
#include "level1_network/trials/shorter_rounding.hpp"

#include <algorithm>

#include "d5/onnx/file.hpp"
#include "level1_network/nodes/output_types.hpp"

namespace d5::detail {
namespace {

constexpr double kRoundings = 8;

/// Half a unit in the last place of 1; 0 for longer types.
double rounding_of(DType dtype) {
  return dtype == DType::bfloat16 ? 0x1p-8 : dtype == DType::float16 ? 0x1p-11 : 0;
}

double coarsest(const std::map<std::string, DType, std::less<>>& dtypes) {
  double largest = 0;
  for (const auto& [name, dtype] : dtypes) largest = std::max(largest, rounding_of(dtype));
  return largest;
}

std::string name_in(const Measurement& record) {
  constexpr std::string_view kOutput = "output ";
  const std::string tensor = record.conditions.at("tensor").text();
  return tensor.starts_with(kOutput) ? tensor.substr(kOutput.size()) : tensor;
}

}  // namespace

std::map<std::string, DType, std::less<>> tensor_dtypes(const Network& network) {
  onnx::Model model = network.model();
  declare_custom_outputs(model.graph);
  std::map<std::string, DType, std::less<>> dtypes;
  for (const auto& [name, type] : onnx::types_of(model)) {
    if (type.kind == ValueKind::tensor) dtypes[name] = type.dtype;
  }
  return dtypes;
}

ShorterRounding::ShorterRounding(const Network& before, const Network& after)
    : before_(tensor_dtypes(before)), bound_(kRoundings * coarsest(tensor_dtypes(after))) {}

bool ShorterRounding::explains(const Measurement& record) const {
  return record.conditions.contains("bound") && !record.samples.empty() &&
         record.samples.front() <= bound_;
}

bool ShorterRounding::is_chosen(const Measurement& record) const {
  const auto place = before_.find(name_in(record));
  return place != before_.end() && !is_floating_point(place->second);
}

}  // namespace d5::detail
