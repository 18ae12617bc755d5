// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/serving/inference/inference_models.hpp"
#include "tests/serving/asked_server.hpp"

namespace d5::testing {

/// A server with the models "scores" (x: N x 3 -> y the same), "pair" (a batch of 2 alone) and
/// "photo" (image: N x 3 x 224 x 224 -> its means).
class ServedModels {
 public:
  explicit ServedModels(const ServedOptions& served = {.largest_batch = 4})
      : models_(
            std::make_shared<InferenceModels>(InferenceOptions{.threads = 1, .served = served})) {
    add_scores("scores", std::string("N"));
    add_scores("pair", std::int64_t{2});
    add_photo();
    asked.server.context().set_inference(models_);
  }
  HttpAnswer infer(const std::string& model, const nlohmann::json& body) {
    return asked.ask("POST", "/v2/models/" + model + "/infer", body.dump());
  }
  nlohmann::json model_statistics(const std::string& model) {
    return asked.get("/v2/models/" + model + "/stats").json().at("model_stats").at(0);
  }

  AskedServer asked;

 private:
  void add(Network& network) {
    const std::string file = asked.folder / (network.name() + ".onnx");
    network.save(file);
    (void)models_->add(file);
  }
  void add_scores(const std::string& name, const onnx::Dim& batch) {
    Network network(name);
    network.add_input("x", DType::float32, {batch, std::int64_t{3}});
    network.add_node("Identity", {"x"}, {"y"});
    network.add_output("y");
    add(network);
  }
  void add_photo() {
    Network network("photo");
    constexpr std::int64_t kSide = 224;
    network.add_input("image", DType::float32, {std::string("N"), std::int64_t{3}, kSide, kSide});
    network.add_node("GlobalAveragePool", {"image"}, {"means"});
    network.add_output("means");
    add(network);
  }

  std::shared_ptr<InferenceModels> models_;
};

inline nlohmann::json input(const std::string& name, const std::vector<std::int64_t>& shape,
                            const std::vector<float>& data) {
  return {{"name", name}, {"datatype", "FP32"}, {"shape", shape}, {"data", data}};
}

inline nlohmann::json rows_of_ones(std::int64_t count) {
  return {{"inputs", {input("x", {count, 3}, std::vector<float>(std::size_t(count) * 3, 1))}}};
}

}  // namespace d5::testing
