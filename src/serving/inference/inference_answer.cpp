// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/inference_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/numbers/whole_number.hpp"
#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/api/json_answer.hpp"
#include "serving/inference/inference_body.hpp"
#include "serving/inference/model_description.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

HttpResponse inference_error(const std::string& message, int status) {
  return HttpResponse::json(json{{"error", printable_message(message)}}.dump(), status);
}

json counted(const CountedDuration& duration) {
  return {{"count", duration.count}, {"ns", duration.ns}};
}

json json_of(const InferenceModelStatistics& model) {
  json batches = json::array();
  for (const InferenceBatchStatistics& batch : model.batches) {
    batches.push_back({{"batch_size", batch.samples},
                       {"compute_input", counted(batch.compute_input)},
                       {"compute_infer", counted(batch.compute_infer)},
                       {"compute_output", counted(batch.compute_output)}});
  }
  return {{"name", model.name},
          {"version", model.version},
          {"last_inference", model.last_inference},
          {"inference_count", model.samples},
          {"execution_count", model.executions},
          {"inference_stats",
           {{"success", counted(model.success)},
            {"fail", counted(model.fail)},
            {"queue", counted(model.queue)},
            {"compute_input", counted(model.compute_input)},
            {"compute_infer", counted(model.compute_infer)},
            {"compute_output", counted(model.compute_output)},
            {"cache_hit", counted({})},  // there is no cache of answers
            {"cache_miss", counted({})}}},
          {"batch_stats", std::move(batches)},
          {"memory_usage", json::array()}};
}

json config_tensors(const std::vector<InferenceTensorInfo>& tensors) {
  json result = json::array();
  for (const InferenceTensorInfo& one : tensors) {
    result.push_back({{"name", one.name},
                      {"data_type", config_type_of(one.type)},
                      {"dims", one.shape},
                      {"is_shape_tensor", false}});
  }
  return result;
}

/// Bytes of an element as JSON, with its comma: a float64 of 17 digits, its sign and exponent.
constexpr double kMostElementBytes = 26;
constexpr double kMostBodyBytes = std::size_t{1} << 30;
/// A sample of an input whose size the model leaves open.
constexpr double kOpenSampleBytes = std::size_t{2} << 20;

double sample_bytes(const std::vector<InferenceTensorInfo>& inputs) {
  double bytes = 0;
  for (const InferenceTensorInfo& input : inputs) {
    double elements = 1;
    for (const std::int64_t size : input.shape) elements *= double(size);
    const bool is_open = input.type == "BYTES" || std::ranges::count(input.shape, -1) > 0;
    bytes += is_open ? kOpenSampleBytes : elements * kMostElementBytes;
  }
  return bytes;
}

/// The number of JSON bytes in a body; all of it without the header.
std::size_t head_of(const HttpRequest& request) {
  const std::string* told = request.headers.find(kHeadLength);
  if (!told) return request.body.size();
  if (const auto head = whole_number<std::size_t>(*told)) return *head;
  throw FormatError(fmt::format("{} is '{}', expected a number", kHeadLength, printable(*told)));
}

json json_of(const std::vector<InferenceTensorInfo>& tensors) {
  json result = json::array();
  for (const InferenceTensorInfo& one : tensors) {
    result.push_back({{"name", one.name}, {"datatype", one.type}, {"shape", one.shape}});
  }
  return result;
}

std::vector<InferenceTensorInfo> tensors_of(const json& from) {
  std::vector<InferenceTensorInfo> tensors;
  for (const json& one : from) {
    tensors.push_back({.name = one.at("name"), .type = one.at("datatype"), .shape = {}});
    for (const json& size : one.at("shape")) tensors.back().shape.push_back(size);
  }
  return tensors;
}

/// The result of `read` for JSON that another server wrote.
template <class Read>
auto read_foreign(std::string_view text, const Read& read) {
  expect_shallow_json(text, "answer");
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    throw FormatError(fmt::format("answer: {}", printable(error.what())));
  }
}

}  // namespace

HttpResponse inference_answer(const HttpRequest& request, ServingContext& context,
                              const std::function<HttpResponse(InferenceModels&)>& answer) {
  if (!context.inference()) return inference_error("this server answers with no models", 503);
  try {
    expect_query(request, {});
    return answer(*context.inference());
  } catch (const std::exception& error) {
    const int status = http_status_of(error);
    return inference_error(error.what(), status == 422 ? 400 : status);  // as the protocol says
  }
}

AskedModel asked_model(const HttpRequest& request) {
  const auto version = request.parameters.find("version");
  return {.name = request.parameter("name"),
          .version = version == request.parameters.end() ? std::string() : version->second};
}

std::size_t most_infer_bytes(const HttpRequest& head, InferenceModels& models, std::size_t usual) {
  constexpr std::int64_t kSamples = 32;  // batches, of a network of a fixed batch
  const auto [name, version] = asked_model(head);
  const InferenceModelConfig config = models.config(name, version);
  const std::int64_t samples = std::max(config.largest_batch, kSamples);
  const double bytes = double(samples) * sample_bytes(config.info.inputs) + double(usual);
  return std::size_t(std::min(bytes, kMostBodyBytes));
}

HttpResponse infer_over_http(const HttpRequest& request, InferenceModels& models) {
  const auto [name, version] = asked_model(request);
  (void)models.model(name, version);  // an unknown model is an unknown address
  InferenceBody body;
  try {
    BinaryWishes wishes;
    InferenceRequest asked = read_request(request.body, head_of(request), wishes);
    asked.model = name;
    asked.version = version;
    body = write_response(models.infer(asked), wishes);
  } catch (const NotFound& error) {  // a name in the body is unknown
    throw ValueError(error.what());
  }
  if (body.is_json()) return HttpResponse::json(std::move(body.bytes));
  HttpResponse response;
  response.headers.add("Content-Type", "application/octet-stream");
  response.headers.add(kHeadLength, fmt::to_string(body.head));
  response.body = std::move(body.bytes);
  return response;
}

json json_of(const InferenceServerInfo& server) {
  return {{"name", server.name}, {"version", server.version}, {"extensions", server.extensions}};
}

json json_of(const InferenceModelInfo& model) {
  return {{"name", model.name},
          {"versions", model.versions},
          {"platform", model.platform},
          {"inputs", json_of(model.inputs)},
          {"outputs", json_of(model.outputs)}};
}

json json_of(const InferenceModelState& state) {
  json told{{"name", state.name}, {"version", state.version}, {"state", state_word(state)}};
  if (!state.is_ready) told["reason"] = state.reason;
  return told;
}

json json_of(const InferenceModelConfig& config) {
  json told{{"name", config.info.name},
            {"platform", config.info.platform},
            {"backend", config.backend},
            {"version_policy", {{"latest", {{"num_versions", 1}}}}},
            {"max_batch_size", config.largest_batch},
            {"input", config_tensors(config.info.inputs)},
            {"output", config_tensors(config.info.outputs)},
            {"instance_group", json::array({{{"name", config.info.name + "_0"},
                                             {"kind", "KIND_AUTO"},
                                             {"count", config.instances}}})},
            {"default_model_filename", ""},
            {"parameters", json::object()}};
  if (config.largest_batch > 1) {
    told["dynamic_batching"] = {
        {"preferred_batch_size", json::array({config.largest_batch})},
        {"max_queue_delay_microseconds", std::llround(config.longest_wait * 1e6)}};
  }
  return told;
}

json json_of(const std::vector<InferenceModelStatistics>& models) {
  json all = json::array();
  for (const InferenceModelStatistics& model : models) all.push_back(json_of(model));
  return {{"model_stats", std::move(all)}};
}

InferenceServerInfo server_of_json(std::string_view text) {
  return read_foreign(text, [](const json& from) {
    InferenceServerInfo server{.name = from.at("name"), .version = {}, .extensions = {}};
    server.version = from.value("version", "");
    return server;
  });
}

InferenceModelInfo model_of_json(std::string_view text) {
  return read_foreign(text, [](const json& from) {
    InferenceModelInfo model;
    model.name = from.at("name");
    model.platform = from.value("platform", "");
    model.versions = from.value("versions", std::vector<std::string>{});
    model.inputs = tensors_of(from.at("inputs"));
    model.outputs = tensors_of(from.at("outputs"));
    return model;
  });
}

}  // namespace d5::detail
