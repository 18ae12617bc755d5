// SPDX-License-Identifier: Apache-2.0
// Overhead of the way to a model that computes nothing: called directly, through the queue of a
// server in this process, through such a queue to a separate process, and through a server on
// loopback over HTTP and over gRPC; in turns, for the inputs of LeNet (3 KiB) and of a photograph
// (588 KiB).
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/serving/inference_options.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/serving/api/server.hpp"
#include "d5/serving/inference/inference_client.hpp"
#include "d5/serving/inference/inference_service.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace d5;

/// A network with an input of this shape; it is never run.
std::string network_of(const testing::TemporaryFolder& folder, const Shape& sample) {
  Network network("asked");
  std::vector<onnx::Dim> dims = {std::string("N")};
  for (const std::int64_t size : sample) dims.emplace_back(size);
  network.add_input("x", DType::float32, dims);
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  const std::string path = folder / "asked.onnx";
  network.save(path);
  return path;
}

Subject asking(const std::string& way, std::shared_ptr<Predictor> predictor,
               const ValueMap& inputs) {
  Subject subject{.run = [=] { (void)predictor->predict(inputs); }};
  subject.record.subject = "a model that computes nothing";
  subject.record.conditions["way"] = identity(way);
  return subject;
}

void measure_sample(const Shape& sample) {
  const testing::TemporaryFolder folder;
  const std::string file = network_of(folder, sample);
  const ModelAssets assets{.model = "asked", .network = file};
  Shape shape{1};
  for (const std::int64_t size : sample) shape.push_back(size);
  const ValueMap inputs = {{"x", Tensor::zeros(DType::float32, shape)}};

  auto models = std::make_shared<InferenceModels>(InferenceOptions{.framework = "null"});
  (void)models->add(file);
  Server server({.database = folder / "results.db", .http = {.port = 0}});
  server.context().set_inference(models);
  server.begin();

  std::vector<Subject> subjects = {asking("direct", open_predictor("null", assets), inputs)};
  InferenceModels isolated({.framework = "null", .alone = {D5_PROGRAM, app::kAnswerAlone}});
  (void)isolated.add(file);
  for (InferenceModels* const asked : {models.get(), &isolated}) {
    Subject line{.run = [&inputs, asked] {
      (void)asked->infer({.model = "asked", .inputs = {{"x", inputs.at("x").tensor()}}});
    }};
    line.record = subjects[0].record;
    line.record.conditions["way"] =
        identity(asked == &isolated ? "a line to a process of its own" : "a line in this process");
    subjects.push_back(line);
  }
  subjects.push_back(asking("HTTP", open_predictor("remote:" + server.address(), assets), inputs));
  std::unique_ptr<InferenceService> grpc;
  try {
    grpc = std::make_unique<InferenceService>(*models);
    subjects.push_back(asking("gRPC", open_predictor("remote:" + grpc->address(), assets), inputs));
  } catch (const Unsupported& reason) {
    std::printf("%s\n", reason.what());
  }
  std::printf("%s\n%s\n", to_string(inputs.at("x").tensor().desc()).c_str(),
              to_table(measure(subjects, {"time"}, {.samples = 100})).c_str());
}

}  // namespace

int main() {
  add_remote_predictor();
  measure_sample({1, 28, 28});
  measure_sample({3, 224, 224});
}
