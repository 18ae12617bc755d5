// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/model_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/picture/network_summary.hpp"

namespace d5::detail {
namespace {

constexpr std::int64_t kAny = -1;

InferenceTensorInfo described_value(const std::string& name, const onnx::Type& type) {
  InferenceTensorInfo info;
  info.name = name;
  info.type = inference_type_of(type.dtype);
  for (const onnx::Dim& dim : type.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    info.shape.push_back(size ? *size : kAny);
  }
  return info;
}

InferenceTensorInfo described_input(const onnx::ValueInfo& value) {
  if (value.type.kind == ValueKind::tensor && value.type.has_shape && !value.type.dims.empty()) {
    return described_value(value.name, value.type);
  }
  throw Unsupported(
      fmt::format("input '{}' is {}: a model is served whose inputs are tensors, the first "
                  "dimension of which is the sample",
                  printable(value.name), to_string(value.type)));
}

/// Types and shapes in the file or inferred from it; undefined if only running shows them.
std::vector<InferenceTensorInfo> described_outputs(const Network& network) {
  std::vector<InferenceTensorInfo> outputs;
  NetworkSummary summary;
  try {
    summary = summarise(network);
  } catch (const Error&) {  // not of a batch of 1, and the smallest of other open sizes
  }
  for (const onnx::ValueInfo& value : network.graph().outputs) {
    const auto inferred = summary.tensors.find(value.name);
    const onnx::Type& type = inferred != summary.tensors.end() ? inferred->second.type : value.type;
    const bool is_known = type.kind == ValueKind::tensor && type.has_shape;
    outputs.push_back(is_known ? described_value(value.name, type)
                               : InferenceTensorInfo{.name = value.name, .type = {}, .shape = {}});
  }
  return outputs;
}

std::vector<std::string> names_of(const std::vector<InferenceTensorInfo>& tensors) {
  std::vector<std::string> names;
  for (const auto& tensor : tensors) names.push_back(tensor.name);
  return names;
}

/// Throws: NotFound for an unknown input; TypeError, ShapeError.
void expect_input(const InferenceModelInfo& model, const InferenceTensor& input) {
  const std::string who = fmt::format("model '{}'", printable(model.name));
  const auto info = std::ranges::find(model.inputs, input.name, &InferenceTensorInfo::name);
  if (info == model.inputs.end()) {
    throw_unknown_name("input of " + who, input.name, names_of(model.inputs));
  }
  const std::string_view type = inference_type_of(input.tensor.dtype());
  if (type != info->type) {
    throw TypeError(fmt::format("{}: input '{}' is {}, expected {}", who, printable(input.name),
                                type, info->type));
  }
  const bool fits = std::ranges::equal(
      info->shape, input.tensor.shape(),
      [](std::int64_t told, std::int64_t size) { return told == kAny || told == size; });
  if (!fits) {
    throw ShapeError(fmt::format("{}: input '{}' is {}, expected {}", who, printable(input.name),
                                 to_string(input.tensor.shape()), to_string(Shape(info->shape))));
  }
}

/// Samples in each input. Throws: ShapeError; NotFound for a missing input.
std::int64_t samples_of(const InferenceModelInfo& model, const ValueMap& inputs) {
  const std::string who = fmt::format("model '{}'", printable(model.name));
  std::int64_t samples = 0;
  for (const InferenceTensorInfo& info : model.inputs) {
    const auto input = inputs.find(info.name);
    if (input == inputs.end()) {
      throw NotFound(fmt::format("{}: input '{}' is missing, expected {}", who,
                                 printable(info.name), fmt::join(names_of(model.inputs), ", ")));
    }
    const Shape& shape = input->second.tensor().shape();
    const std::int64_t here = shape[0];
    // What was sent bounds the number of samples that hold something, and no other.
    if (here > 0 && shape.elements() == 0) {
      throw ShapeError(fmt::format("{}: input '{}' is {}, expected samples with elements", who,
                                   printable(info.name), to_string(shape)));
    }
    if (here == 0 || (samples > 0 && here != samples)) {
      throw ShapeError(fmt::format("{}: input '{}' has {} samples, expected {}", who,
                                   printable(info.name), here,
                                   samples > 0 ? fmt::to_string(samples) : "1 or more"));
    }
    samples = here;
  }
  return samples;
}

}  // namespace

InferenceModelInfo described_model(const Network& network, const std::string& framework) {
  InferenceModelInfo info;
  info.platform = "d5_" + framework;
  const auto inputs = network.input_names();  // without those that have a value
  for (const onnx::ValueInfo& value : network.graph().inputs) {
    if (std::ranges::find(inputs, value.name) == inputs.end()) continue;
    info.inputs.push_back(described_input(value));
  }
  info.outputs = described_outputs(network);
  return info;
}

std::int64_t fixed_batch(const InferenceModelInfo& model) {
  std::int64_t fixed = 0;
  for (const InferenceTensorInfo& input : model.inputs) {
    const std::int64_t size = input.shape[0];
    if (size == kAny) continue;
    if (fixed > 0 && size != fixed) {
      throw Unsupported(
          fmt::format("inputs take {} samples and {}: a model is served whose inputs' first "
                      "dimension is the sample",
                      fixed, size));
    }
    fixed = size;
  }
  return fixed;
}

std::string config_type_of(const std::string& type) {
  if (type.empty()) return "TYPE_INVALID";  // only running shows it
  return type == "BYTES" ? "TYPE_STRING" : "TYPE_" + type;
}

void leave_out_sample(InferenceModelInfo& model) {
  for (auto* tensors : {&model.inputs, &model.outputs}) {
    for (InferenceTensorInfo& tensor : *tensors) {
      if (!tensor.shape.empty()) tensor.shape.erase(tensor.shape.begin());
    }
  }
}

RequestRows request_rows(const InferenceModelInfo& model, const InferenceRequest& request,
                         std::int64_t rows_a_query) {
  RequestRows rows;
  for (const InferenceTensor& input : request.inputs) {
    expect_input(model, input);
    if (!rows.inputs.emplace(input.name, input.tensor).second) {
      throw ValueError(fmt::format("model '{}': input '{}' is given twice", printable(model.name),
                                   printable(input.name)));
    }
  }
  rows.rows = samples_of(model, rows.inputs);
  // Each query of a request takes memory here until it is answered, however few bytes it has.
  constexpr std::int64_t kMostQueries = 65'536;
  if (const std::int64_t most = kMostQueries * rows_a_query; rows.rows > most) {
    throw ShapeError(
        fmt::format("model '{}': {} samples in one request, at most {}; ask for them "
                    "in several requests",
                    printable(model.name), rows.rows, most));
  }
  return rows;
}

std::vector<std::string> answered_outputs(const InferenceModelInfo& model, const ValueMap& outputs,
                                          const std::vector<std::string>& wanted) {
  std::vector<std::string> there, result;
  for (const auto& [name, value] : outputs) there.push_back(name);
  for (const std::string& name : wanted) {
    if (!outputs.contains(name)) {
      throw_unknown_name(fmt::format("output of model '{}'", printable(model.name)), name, there);
    }
    result.push_back(name);
  }
  if (!wanted.empty()) return result;
  for (const InferenceTensorInfo& info : model.outputs) {
    if (outputs.contains(info.name)) result.push_back(info.name);
  }
  return result.empty() ? there : result;
}

}  // namespace d5::detail
