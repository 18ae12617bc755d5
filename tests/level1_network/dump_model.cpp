// SPDX-License-Identifier: Apache-2.0
// Writes a built-in network, what it was fed, what it answers and its gradients, for an outside
// judge.
//
//   dump_model MODEL BATCH FOLDER
//
// FOLDER gets model.onnx, image.pb, label.pb, and in float32/ and float64/, computed in these types
// from the same values: logits.pb, loss.pb, gradient/<parameter>.pb, and choice/<tensor>.pb, the
// inputs of rectifiers and maxima.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "d5/core/atomic_file.hpp"
#include "d5/core/random.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/onnx/file.hpp"

namespace {

d5::Tensor random_image(const d5::Network& network, std::int64_t batch) {
  std::vector<std::int64_t> dims{batch};
  const auto& declared = network.graph().inputs.front().type.dims;
  for (std::size_t i = 1; i < declared.size(); ++i)
    dims.push_back(std::get<std::int64_t>(declared[i]));
  d5::Tensor image = d5::Tensor::empty(d5::DType::float32, d5::Shape(dims));
  d5::RandomStream random(1);
  for (float& value : image.span<float>()) value = random.normal();
  return image;
}

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

/// Runs and writes outputs and gradients, the latter below "gradient".
void run(d5::Network network, const d5::ValueMap& inputs, const std::string& folder) {
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

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: dump_model MODEL BATCH FOLDER\n";
    return 2;
  }
  const std::string folder = argv[3];
  const std::int64_t batch = std::stoll(argv[2]);
  std::filesystem::create_directories(folder);
  d5::Network network = d5::models().at(argv[1]).make({{"seed", 3}, {"with_loss", true}});
  d5::Tensor label = d5::Tensor::empty(d5::DType::int64, {batch});
  for (std::int64_t i = 0; i < batch; ++i) label.data<std::int64_t>()[i] = i % 10;
  d5::ValueMap inputs = {{"image", random_image(network, batch)}, {"label", label}};
  network.save(folder + "/model.onnx");
  for (const auto& [name, value] : inputs) write(folder, name, value);
  const d5::Network wide = widened(network);
  run(network, inputs, folder + "/float32");
  inputs["image"] = widened(inputs["image"].tensor());
  run(wide, inputs, folder + "/float64");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "dump_model: " << error.what() << '\n';
  return 1;
}
