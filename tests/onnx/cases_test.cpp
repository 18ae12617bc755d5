// SPDX-License-Identifier: Apache-2.0
// Every model and every value of ONNX's own backend tests must load. scripts/onnx_cases writes
// them.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/onnx/file.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;

/// The first inputs or outputs of a graph, each read from its file as the type that the graph says.
void load_values(const std::vector<std::string>& files, const std::vector<ValueInfo>& infos) {
  REQUIRE(files.size() <= infos.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    INFO(files[i]);
    const Type& type = infos[i].type;
    const Value value = load_value(files[i], type);
    REQUIRE(value.kind() == type.kind);
    if (!value.is_tensor()) continue;
    REQUIRE(value.tensor().dtype() == type.dtype);
    if (!type.has_shape) continue;
    REQUIRE(value.tensor().shape().rank() == type.dims.size());
    for (std::size_t d = 0; d < type.dims.size(); ++d) {
      const auto* size = std::get_if<std::int64_t>(&type.dims[d]);
      if (size) REQUIRE(value.tensor().shape()[d] == *size);
    }
  }
}

void load_folder(const std::string& path) {
  INFO(path);
  const TestFolder folder = open_test_folder(path);
  const Model model = load(folder.model_path);
  REQUIRE_FALSE(model.graph.nodes.empty());
  for (const Node& node : model.graph.nodes) REQUIRE(node.opset > 0);
  for (const auto& data_set : folder.data_sets) {
    load_values(data_set.inputs, model.graph.inputs);
    load_values(data_set.outputs, model.graph.outputs);
  }
}

TEST_CASE("every model and value of ONNX's backend tests loads") {
  const char* root = std::getenv("D5_ONNX_CASES");
  if (root == nullptr || !fs::is_directory(root)) {
    WARN("skipped: D5_ONNX_CASES names no folder; scripts/onnx_cases writes one");
    return;
  }
  std::size_t count = 0;
  for (const auto& kind : fs::directory_iterator(root)) {
    if (!kind.is_directory()) continue;
    for (const auto& folder : fs::directory_iterator(kind)) {
      CHECK_NOTHROW(load_folder(folder.path().string()));
      ++count;
    }
  }
  INFO(count << " folders loaded from " << root);
  CHECK(count >= 2036);  // onnx 1.23.2: 1884 node, 26 simple, 82 + 35 from PyTorch, 9 light
}

TEST_CASE("the shared networks load with the shapes that they declare") {
  const char* data = std::getenv("D5_DATA_DIR");
  if (data == nullptr || !fs::is_directory(fs::path(data) / "onnx-light")) {
    WARN("skipped: D5_DATA_DIR has no folder onnx-light");
    return;
  }
  // As the papers' tables count them; of ResNet-50, the four projections too.
  const std::pair<const char*, int> convolutions[] = {{"bvlc_alexnet", 5},
                                                      {"inception_v1", 57},
                                                      {"resnet50", 53},
                                                      {"squeezenet", 26},
                                                      {"vgg19", 16}};
  for (const auto& [name, expected] : convolutions) {
    const auto folder = (fs::path(data) / "onnx-light" / name).string();
    load_folder(folder);
    const Model model = load(folder + "/model.onnx");
    int found = 0;
    for (const Node& node : model.graph.nodes) found += node.op_type == "Conv";
    INFO(name);
    CHECK(found == expected);
    REQUIRE(model.graph.inputs.size() == 1);
    CHECK(to_string(model.graph.inputs[0].type) == "float32 1x3x224x224");
  }
}

}  // namespace
}  // namespace d5::onnx
