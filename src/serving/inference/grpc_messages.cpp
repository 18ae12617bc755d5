// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/grpc_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "serving/inference/model_description.hpp"
#include "serving/inference/raw_tensor.hpp"

namespace d5::detail {
namespace {

std::string who_of(const char* kind, const std::string& name) {
  return fmt::format("{} '{}'", kind, printable(name));
}

template <class T, class Elements>
Tensor tensor_of_elements(const std::string& who, const Shape& shape, const Elements& elements) {
  expect_sound_shape(who, shape);
  if (shape.elements() != elements.size()) {
    throw ShapeError(fmt::format("{}: {} elements of {}, but its shape takes {}", who,
                                 elements.size(), inference_type_of(dtype_of<T>),
                                 shape.elements()));
  }
  Tensor tensor = Tensor::empty(dtype_of<T>, shape);
  T* to = tensor.data<T>();
  for (const auto& element : elements) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!std::in_range<T>(element)) {
        throw TypeError(fmt::format("{}: element {} is {}, expected {}", who, to - tensor.data<T>(),
                                    element, inference_type_of(dtype_of<T>)));
      }
    }
    *to++ = T(element);
  }
  return tensor;
}

/// Reads elements from the field that the specification gives to the type.
Tensor tensor_of_contents(const std::string& who, DType dtype, const Shape& shape,
                          const inference::InferTensorContents& from) {
  const auto of = [&]<class T>(const auto& elements) {
    return tensor_of_elements<T>(who, shape, elements);
  };
  switch (dtype) {
    case DType::boolean:
      return of.operator()<bool>(from.bool_contents());
    case DType::int8:
      return of.operator()<std::int8_t>(from.int_contents());
    case DType::int16:
      return of.operator()<std::int16_t>(from.int_contents());
    case DType::int32:
      return of.operator()<std::int32_t>(from.int_contents());
    case DType::int64:
      return of.operator()<std::int64_t>(from.int64_contents());
    case DType::uint8:
      return of.operator()<std::uint8_t>(from.uint_contents());
    case DType::uint16:
      return of.operator()<std::uint16_t>(from.uint_contents());
    case DType::uint32:
      return of.operator()<std::uint32_t>(from.uint_contents());
    case DType::uint64:
      return of.operator()<std::uint64_t>(from.uint64_contents());
    case DType::float32:
      return of.operator()<float>(from.fp32_contents());
    case DType::float64:
      return of.operator()<double>(from.fp64_contents());
    case DType::string:
      return of.operator()<std::string>(from.bytes_contents());
    default:
      throw ValueError(
          fmt::format("{}: {} has no contents; send it raw", who, inference_type_of(dtype)));
  }
}

/// Tensors of inputs or outputs, whose messages have the same fields.
template <class Messages, class Raw>
std::vector<InferenceTensor> tensors_of(const char* kind, const Messages& messages,
                                        const Raw& raw) {
  if (!raw.empty() && raw.size() != messages.size()) {
    throw FormatError(
        fmt::format("{} {}s, but raw contents of {}", messages.size(), kind, raw.size()));
  }
  std::vector<InferenceTensor> tensors;
  for (int i = 0; i < messages.size(); ++i) {
    const auto& message = messages[i];
    const std::string who = who_of(kind, message.name());
    const DType dtype = inference_dtype(message.datatype());
    Shape shape;
    for (const std::int64_t size : message.shape()) shape.push_back(size);
    tensors.push_back(
        {message.name(), raw.empty() ? tensor_of_contents(who, dtype, shape, message.contents())
                                     : tensor_of_raw(who, dtype, shape, raw[i])});
  }
  return tensors;
}

template <class Message>
void describe(Message& message, const InferenceTensor& from) {
  message.set_name(from.name);
  message.set_datatype(std::string(inference_type_of(from.tensor.dtype())));
  for (const std::int64_t size : from.tensor.shape()) message.add_shape(size);
}

std::vector<InferenceTensorInfo> infos_of(const auto& messages) {
  std::vector<InferenceTensorInfo> infos;
  for (const auto& message : messages) {
    infos.push_back(
        {message.name(), message.datatype(), {message.shape().begin(), message.shape().end()}});
  }
  return infos;
}

void fill_info(inference::ModelMetadataResponse::TensorMetadata& message,
               const InferenceTensorInfo& info) {
  message.set_name(info.name);
  message.set_datatype(info.type);
  for (const std::int64_t size : info.shape) message.add_shape(size);
}

template <class Tensors>
void fill_config(Tensors& messages, const std::vector<InferenceTensorInfo>& tensors) {
  for (const InferenceTensorInfo& tensor : tensors) {
    auto& message = *messages.Add();
    inference::DataType type = inference::TYPE_INVALID;
    (void)inference::DataType_Parse(config_type_of(tensor.type), &type);
    message.set_name(tensor.name);
    message.set_data_type(type);
    for (const std::int64_t size : tensor.shape) message.add_dims(size);
  }
}

void fill_duration(inference::StatisticDuration& message, const CountedDuration& duration) {
  message.set_count(std::uint64_t(duration.count));
  message.set_ns(std::uint64_t(duration.ns));
}

/// Throws: ValueError for a parameter that is not `known`.
template <class Parameters>
void expect_parameters(const std::string& who, const Parameters& given, std::string_view known) {
  for (const auto& [name, value] : given) {
    if (name == known) continue;
    throw ValueError(fmt::format("parameter of {} '{}' is unknown; known: {}", who, printable(name),
                                 known.empty() ? "none" : known));
  }
}

std::int64_t class_count(const std::string& who, const inference::InferParameter& value) {
  if (value.parameter_choice_case() == inference::InferParameter::kInt64Param) {
    return value.int64_param();
  }
  throw ValueError(who + ": parameter 'classification' is no int64");
}

}  // namespace

InferenceRequest request_of(const inference::ModelInferRequest& message) {
  InferenceRequest request{
      .model = message.model_name(), .version = message.model_version(), .id = message.id()};
  request.inputs = tensors_of("input", message.inputs(), message.raw_input_contents());
  expect_parameters("request", message.parameters(), "");
  for (const auto& input : message.inputs()) {
    expect_parameters(who_of("input", input.name()), input.parameters(), "");
  }
  constexpr const char* kClasses = "classification";
  for (const auto& output : message.outputs()) {
    const std::string who = who_of("output", output.name());
    expect_parameters(who, output.parameters(), kClasses);
    request.outputs.push_back(output.name());
    const auto classes = output.parameters().find(kClasses);
    if (classes == output.parameters().end()) continue;
    if (const auto count = class_count(who, classes->second); count != 0) {
      request.classes[output.name()] = count;
    }
  }
  return request;
}

InferenceResponse response_of(const inference::ModelInferResponse& message) {
  return {.model = message.model_name(),
          .version = message.model_version(),
          .id = message.id(),
          .outputs = tensors_of("output", message.outputs(), message.raw_output_contents())};
}

InferenceModelInfo model_of(const inference::ModelMetadataResponse& message) {
  InferenceModelInfo model;
  model.name = message.name();
  model.versions.assign(message.versions().begin(), message.versions().end());
  model.platform = message.platform();
  model.inputs = infos_of(message.inputs());
  model.outputs = infos_of(message.outputs());
  return model;
}

void fill(inference::ModelInferRequest& message, const InferenceRequest& request) {
  message.set_model_name(request.model);
  message.set_model_version(request.version);
  message.set_id(request.id);
  for (const InferenceTensor& input : request.inputs) {
    describe(*message.add_inputs(), input);
    append_raw(input.tensor, *message.add_raw_input_contents());
  }
  for (const std::string& output : request.outputs) message.add_outputs()->set_name(output);
}

void fill(inference::ModelInferResponse& message, const InferenceResponse& response) {
  message.set_model_name(response.model);
  message.set_model_version(response.version);
  message.set_id(response.id);
  for (const InferenceTensor& output : response.outputs) {
    describe(*message.add_outputs(), output);
    append_raw(output.tensor, *message.add_raw_output_contents());
  }
}

void fill(inference::ModelMetadataResponse& message, const InferenceModelInfo& model) {
  message.set_name(model.name);
  for (const std::string& version : model.versions) message.add_versions(version);
  message.set_platform(model.platform);
  for (const auto& input : model.inputs) fill_info(*message.add_inputs(), input);
  for (const auto& output : model.outputs) fill_info(*message.add_outputs(), output);
}

void fill(inference::ModelConfig& message, const InferenceModelConfig& config) {
  message.set_name(config.info.name);
  message.set_platform(config.info.platform);
  message.set_backend(config.backend);
  message.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  message.set_max_batch_size(std::int32_t(config.largest_batch));
  fill_config(*message.mutable_input(), config.info.inputs);
  fill_config(*message.mutable_output(), config.info.outputs);
  auto& group = *message.add_instance_group();
  group.set_name(config.info.name + "_0");
  group.set_count(config.instances);
  if (config.largest_batch <= 1) return;
  auto& batching = *message.mutable_dynamic_batching();
  batching.add_preferred_batch_size(std::int32_t(config.largest_batch));
  batching.set_max_queue_delay_microseconds(std::uint64_t(config.longest_wait * 1e6 + 0.5));
}

void fill(inference::ModelStatistics& message, const InferenceModelStatistics& model) {
  message.set_name(model.name);
  message.set_version(model.version);
  message.set_last_inference(std::uint64_t(model.last_inference));
  message.set_inference_count(std::uint64_t(model.samples));
  message.set_execution_count(std::uint64_t(model.executions));
  auto& all = *message.mutable_inference_stats();
  fill_duration(*all.mutable_success(), model.success);
  fill_duration(*all.mutable_fail(), model.fail);
  fill_duration(*all.mutable_queue(), model.queue);
  fill_duration(*all.mutable_compute_input(), model.compute_input);
  fill_duration(*all.mutable_compute_infer(), model.compute_infer);
  fill_duration(*all.mutable_compute_output(), model.compute_output);
  for (const InferenceBatchStatistics& batch : model.batches) {
    auto& one = *message.add_batch_stats();
    one.set_batch_size(std::uint64_t(batch.samples));
    fill_duration(*one.mutable_compute_input(), batch.compute_input);
    fill_duration(*one.mutable_compute_infer(), batch.compute_infer);
    fill_duration(*one.mutable_compute_output(), batch.compute_output);
  }
}

}  // namespace d5::detail
