// SPDX-License-Identifier: Apache-2.0
// Overhead of `predict` over a direct call of its executor: on a single node, where nanoseconds
// matter, and on LeNet.
#include "benchmarks/side_by_side.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tests/temporary_folder.hpp"

namespace {

/// A file with a network of one node on one element.
std::string one_node(const d5::testing::TemporaryFolder& folder) {
  d5::Network network("relu");
  network.add_input("x", d5::DType::float32, {1, 1});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  network.save(folder / "relu.onnx");
  return folder / "relu.onnx";
}

d5::ValueMap zeros_for(const std::string& model) {
  d5::ValueMap inputs;
  for (const auto& [name, desc] : d5::input_descs(d5::open_model(model), {.batch = 1})) {
    inputs[name] = d5::Tensor::zeros(desc.tensor);
  }
  return inputs;
}

d5::Subject direct(const std::string& model, const std::string& word) {
  const auto executor = d5::open_executor(word, d5::open_model(model));
  executor->set_mode(d5::NetworkMode::inference);
  return {.run = [executor, inputs = zeros_for(model)] {
    (void)executor->inference(inputs);
    executor->synchronise();
  }};
}

d5::Subject predicted(const std::string& model, const std::string& word) {
  const auto predictor = d5::open_predictor(word, {.model = "model", .network = model});
  return {.run = [predictor, inputs = zeros_for(model)] { (void)predictor->predict(inputs); }};
}

void add_model(const std::string& name, const std::string& model, const std::string& word) {
  d5::benchmarks::add(name + "/" + word, {{"executor", [=] { return direct(model, word); }},
                                          {"predict", [=] { return predicted(model, word); }}});
}

}  // namespace

int main(int argc, char** argv) {
  const d5::testing::TemporaryFolder folder;
  d5::set_threads(1);
  for (const char* word : {"reference", "torch"}) {
    add_model("one_node", one_node(folder), word);
    add_model("lenet", "lenet", word);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
