// SPDX-License-Identifier: Apache-2.0
// Changed names, types and defaults of attributes, and renamed operators.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <memory>

#include "d5/core/errors/error.hpp"
#include "onnx/opset/opset_step.hpp"

namespace d5::onnx::detail {
namespace {

using GraphPointer = std::shared_ptr<const Graph>;

/// Writes a changed default explicitly.
template <class T>
auto say(const char* attribute, T usual) {
  return [=](OpsetStep& step, Node node) {
    node.attributes.try_emplace(attribute, usual);
    step.add(std::move(node));
  };
}

void convert_selu(OpsetStep& step, Node node) {
  node.attributes.try_emplace("alpha", 1.6732F);
  node.attributes.try_emplace("gamma", 1.0507F);
  step.add(std::move(node));
}

/// The element type is a text, "FLOAT".
void convert_cast(OpsetStep& step, Node node) {
  std::string word = taken<std::string>(node, "to").value_or("");
  for (char& c : word) c = char(std::tolower(static_cast<unsigned char>(c)));
  const DType dtype = word == "float"    ? DType::float32
                      : word == "double" ? DType::float64
                                         : dtype_from_name(word);
  node.attributes["to"] = std::int64_t(dtype);
  step.add(std::move(node));
}

void convert_paddings(OpsetStep& step, Node node) {
  using Integers = std::vector<std::int64_t>;
  node.attributes["pads"] = taken<Integers>(node, "paddings").value_or(Integers{});
  step.add(std::move(node));
}

void convert_norm(OpsetStep& step, Node node) {
  if (const auto p = taken<float>(node, "p")) {
    if (*p != std::floor(*p)) {
      refuse_conversion(node, fmt::format("p is {}, and from opset 2 on it is an integer", *p));
    }
    node.attributes["p"] = std::int64_t(*p);
  }
  step.add(std::move(node));
}

/// Lengths may be an input, which is an attribute in opset 2.
void convert_lengths(OpsetStep& step, Node node) {
  if (node.has_input(1)) {
    const Tensor* value = step.value(node.inputs[1]);
    if (!value) refuse_conversion(node, "its input 'split' is not constant");
    std::vector<std::int64_t> lengths;
    dispatch(Types<float, double, std::int32_t, std::int64_t>{}, value->dtype(), describe(node),
             [&]<class T>() {
               for (const T length : value->span<T>()) lengths.push_back(std::int64_t(length));
             });
    node.attributes["split"] = std::move(lengths);
  }
  node.inputs.resize(1);
  step.add(std::move(node));
}

/// Unused outputs get an empty name.
void drop_output_sequence(OpsetStep& step, Node node) {
  (void)taken<std::int64_t>(node, "output_sequence");
  step.add(std::move(node));
}

void convert_scatter(OpsetStep& step, Node node) {
  node.op_type = "ScatterElements";
  step.add(std::move(node));
}

ValueInfo without_batch(const OpsetStep& step, const std::string& name, const std::string& of) {
  ValueInfo info{name, {}};
  if (const Type* type = step.type(of)) info.type = *type;
  if (!info.type.dims.empty()) info.type.dims.erase(info.type.dims.begin());
  return info;
}

/// Scan of opset 8 scans each sample of a batch by itself: a scan over the batch, of a scan.
void convert_scan(OpsetStep& step, Node node) {
  if (node.has_input(0)) refuse_conversion(node, "its sequences have lengths of their own");
  node.inputs.erase(node.inputs.begin());
  auto whole = std::make_shared<Graph>();
  Node inner = node;
  inner.opset = step.version();
  if (auto directions = taken<std::vector<std::int64_t>>(inner, "directions")) {
    inner.attributes["scan_input_directions"] = std::move(*directions);
  }
  for (auto& name : inner.inputs) {
    const std::string sample = step.unused_name(name + ".sample");
    whole->inputs.push_back(without_batch(step, sample, name));
    name = sample;
  }
  for (auto& name : inner.outputs) {
    const std::string stem = name.empty() ? node.outputs.front() : name;
    const std::string sample = step.unused_name(stem + ".sample");
    whole->outputs.push_back(without_batch(step, sample, name));
    name = sample;
  }
  whole->name = node.outputs.front() + ".samples";
  whole->nodes = {std::move(inner)};
  node.attributes = {{"body", GraphPointer(std::move(whole))},
                     {"num_scan_inputs", std::int64_t(node.inputs.size())}};
  step.add(std::move(node));
}

}  // namespace

OpsetChanges form_changes() {
  return {{2, {"GlobalLpPool", "LpPool"}, convert_norm},
          {2, {"Pad"}, convert_paddings},
          {2, {"Split"}, convert_lengths},
          {4, {"Concat"}, say("axis", std::int64_t{1})},
          {6, {"Cast"}, convert_cast},
          {6, {"Selu"}, convert_selu},
          {7, {"GRU", "LSTM", "RNN"}, drop_output_sequence},
          {9, {"Scan"}, convert_scan},
          {11, {"Scatter"}, convert_scatter}};
}

}  // namespace d5::onnx::detail
