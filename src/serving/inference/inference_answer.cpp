// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/inference_answer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/numbers/whole_number.hpp"
#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/inference/inference_body.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

HttpResponse inference_error(const std::string& message, int status) {
  return HttpResponse::json(json{{"error", printable_message(message)}}.dump(), status);
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

HttpResponse inference_answer(ServingContext& context,
                              const std::function<HttpResponse(InferenceModels&)>& answer) {
  if (!context.inference()) return inference_error("this server answers with no models", 503);
  try {
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

HttpResponse infer_over_http(const HttpRequest& request, InferenceModels& models) {
  BinaryWishes wishes;
  InferenceRequest asked = read_request(request.body, head_of(request), wishes);
  AskedModel model = asked_model(request);
  asked.model = std::move(model.name);
  asked.version = std::move(model.version);
  InferenceBody body = write_response(models.infer(asked), wishes);
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
