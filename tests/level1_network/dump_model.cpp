// SPDX-License-Identifier: Apache-2.0
// Writes a built-in network, what it was fed, what it answers and its gradients, for an outside
// judge.
//
//   dump_model MODEL BATCH outputs|gradients FOLDER [OPTION=VALUE ...]
//
// FOLDER gets model.onnx, its inputs by their names (image.pb, label.pb), and float32/ with
// logits.pb and loss.pb. For "gradients" float32/ and float64/ hold what was computed in these
// types from the same values: the outputs, gradient/<parameter>.pb, and choice/<tensor>.pb, the
// inputs of rectifiers and maxima.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/onnx/file.hpp"

namespace {

d5::Tensor widened(const d5::Tensor& tensor) {
  if (tensor.dtype() != d5::DType::float32) return tensor;
  d5::Tensor wide = d5::Tensor::empty(d5::DType::float64, tensor.shape());
  std::copy_n(tensor.data<float>(), tensor.elements(), wide.data<double>());
  return wide;
}

/// The same network in float64.
d5::Network widened(const d5::Network& network) {
  d5::onnx::Model model = network.model();
  for (auto& [name, tensor] : model.graph.initializers) tensor = widened(tensor);
  for (auto& input : model.graph.inputs) {
    if (input.type.dtype == d5::DType::float32) input.type.dtype = d5::DType::float64;
  }
  return d5::Network(std::move(model));
}

void write(const std::string& folder, const std::string& name, const d5::Value& value) {
  d5::write_file(folder + "/" + name + ".pb", d5::onnx::serialize_value(value, name));
}

std::set<std::string> chosen_from(const d5::Network& network) {
  std::set<std::string> names;
  for (const auto& node : network.graph().nodes) {
    if (node.op_type == "Relu" || node.op_type == "MaxPool") names.insert(node.inputs.front());
  }
  return names;
}

/// Runs and writes outputs.
void run(const d5::Network& network, const d5::ValueMap& inputs, const std::string& folder) {
  std::filesystem::create_directories(folder);
  const auto executor = d5::make_executor(network);
  for (const auto& [name, value] : executor->inference(inputs)) write(folder, name, value);
}

/// Runs forward and backward, and writes outputs and gradients, the latter below "gradient".
void run_backward(d5::Network network, const d5::ValueMap& inputs, const std::string& folder) {
  std::filesystem::create_directories(folder + "/gradient");
  std::filesystem::create_directories(folder + "/choice");
  const auto choices = chosen_from(network);
  for (const auto& name : choices) network.add_output(name);
  const auto executor = d5::make_executor(network);
  for (const auto& [name, value] : executor->inference_and_backprop(inputs, "loss")) {
    write(folder, (choices.contains(name) ? "choice/" : "") + name, value);
  }
  for (const auto& parameter : network.parameters()) {
    write(folder, "gradient/" + parameter.name, parameter.gradient);
  }
}

d5::Settings settings_of(std::span<char*> words) {
  d5::Settings settings{{"seed", 3}, {"with_loss", true}};
  for (const std::string word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw d5::ValueError(word + ": expected OPTION=VALUE");
    settings.set(word.substr(0, equals), word.substr(equals + 1));
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc < 5 ? "" : argv[3];
  if (what != "outputs" && what != "gradients") {
    std::cerr << "usage: dump_model MODEL BATCH outputs|gradients FOLDER [OPTION=VALUE ...]\n";
    return 2;
  }
  const std::string folder = argv[4];
  std::filesystem::create_directories(folder);
  const d5::Network network =
      d5::models().at(argv[1]).make(settings_of({argv + 5, std::size_t(argc - 5)}));
  d5::ValueMap inputs = d5::random_inputs(network, {.batch = std::stoll(argv[2])}, 1);
  network.save(folder + "/model.onnx");
  for (const auto& [name, value] : inputs) write(folder, name, value);
  if (what == "outputs") {
    run(network, inputs, folder + "/float32");
    return 0;
  }
  const d5::Network wide = widened(network);
  run_backward(network, inputs, folder + "/float32");
  for (auto& [name, value] : inputs) value = widened(value.tensor());
  run_backward(wide, inputs, folder + "/float64");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "dump_model: " << error.what() << '\n';
  return 1;
}
