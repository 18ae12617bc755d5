// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "d5/serving/api/serving_context.hpp"
#include "d5/serving/http/http_message.hpp"
#include "d5/serving/inference/inference_models.hpp"

namespace d5::detail {

/// The response of an Open Inference Protocol route: the result of `answer` for the server's
/// models, or `{"error": "..."}` with the status of its exception; 503 if the server has no models,
/// 400 for parameters in the address, of which the protocol has none.
[[nodiscard]] HttpResponse inference_answer(
    const HttpRequest& request, ServingContext& context,
    const std::function<HttpResponse(InferenceModels&)>& answer);

/// The parameters {name} and, where the path has it, {version}.
struct AskedModel {
  std::string name, version;
};
[[nodiscard]] AskedModel asked_model(const HttpRequest& request);

/// Answers a request for inference; its inputs may be JSON, or bytes behind it.
[[nodiscard]] HttpResponse infer_over_http(const HttpRequest& request, InferenceModels& models);
/// The largest body of such a request: samples of the model as JSON, 32 or as many as a batch may
/// have; never less than `usual`. Opens the model.
[[nodiscard]] std::size_t most_infer_bytes(const HttpRequest& head, InferenceModels& models,
                                           std::size_t usual);

[[nodiscard]] nlohmann::json json_of(const InferenceServerInfo& server);
[[nodiscard]] nlohmann::json json_of(const InferenceModelInfo& model);
[[nodiscard]] nlohmann::json json_of(const InferenceModelState& state);
/// Source: Triton, "Model Configuration Extension".
[[nodiscard]] nlohmann::json json_of(const InferenceModelConfig& config);
/// {"model_stats": [...]}. Source: Triton, "Statistics Extension".
[[nodiscard]] nlohmann::json json_of(const std::vector<InferenceModelStatistics>& models);
/// The inverse. Throws: FormatError.
[[nodiscard]] InferenceServerInfo server_of_json(std::string_view text);
[[nodiscard]] InferenceModelInfo model_of_json(std::string_view text);

}  // namespace d5::detail
