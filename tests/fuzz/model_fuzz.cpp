// SPDX-License-Identifier: Apache-2.0
// ONNX files that are sound but for a few fields: refused, or run alike in all frameworks. They are
// made from a small network and, where D5_ONNX_CASES says where these are, from ONNX's own cases.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/onnx/file.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/known_differences.hpp"
#include "fuzz/message_damage.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/outcome.hpp"

namespace d5::fuzz {
namespace {

namespace fs = std::filesystem;

std::string small_network() {
  Network network("small");
  RandomStream random(1);
  const auto normal = [&](const Shape& shape) {
    Tensor tensor = Tensor::empty(DType::float32, shape);
    for (float& value : tensor.span<float>()) value = random.normal();
    return tensor;
  };
  network.add_input("x", DType::float32, {"N", 1, 6, 6});
  network.add_parameter("w", normal({2, 1, 3, 3}));
  network.add_parameter("v", normal({8, 3}));
  network.add_constant("shape", Tensor::vector<std::int64_t>({0, -1}));
  const std::vector<std::int64_t> pair{2, 2}, pads{1, 1, 1, 1};
  network.add_node("Conv", {"x", "w"}, {"c"}, {{"pads", pads}, {"strides", pair}});
  network.add_node("Relu", {"c"}, {"r"});
  network.add_node("MaxPool", {"r"}, {"p"}, {{"kernel_shape", pair}});
  network.add_node("Reshape", {"p", "shape"}, {"f"});
  network.add_node("Gemm", {"f", "v"}, {"g"});
  network.add_node("Softmax", {"g"}, {"y"}, {{"axis", std::int64_t{-1}}});
  network.add_output("y");
  return onnx::serialize(network.model());
}

const std::vector<std::string>& sound() {
  constexpr std::uintmax_t kMostBytes = 20000;
  static const std::vector<std::string> models = [] {
    std::vector<std::string> files;
    if (const char* folder = std::getenv("D5_ONNX_CASES")) {
      for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".onnx" && entry.file_size() < kMostBytes) {
          files.push_back(entry.path().string());
        }
      }
    }
    std::ranges::sort(files);
    std::vector<std::string> result{small_network()};
    for (const auto& file : files) result.push_back(read_file(file));
    return result;
  }();
  return models;
}

/// Whether it is known of some node, by its attributes and by what the file or `fed` gives it.
bool is_known(const Network& network, const ValueMap& fed, const std::string& framework) {
  const onnx::Graph& graph = network.graph();
  return std::ranges::any_of(graph.nodes, [&](const onnx::Node& node) {
    OperatorCase one;
    one.node = node;
    for (const std::string& input : node.inputs) {
      const auto kept = graph.initializers.find(input);
      const auto given = fed.find(input);
      one.inputs.push_back(kept != graph.initializers.end() ? Value(kept->second)
                           : given != fed.end()             ? given->second
                                                            : Value());
    }
    return is_known_to_differ(one, framework);
  });
}

}  // namespace

std::string name() { return "model"; }

void prepare() {
  (void)sound();
  (void)frameworks_under_test();
}

std::string make_case(RandomStream& random) {
  const std::string& model = one_in(random, 8) ? sound().front() : pick(random, sound());
  return with_other_fields(model, random);
}

std::string run_case(const std::string& bytes) {
  const Network network(onnx::parse(std::as_bytes(std::span(bytes)), "case.onnx"));
  const ValueMap fed = random_inputs(network, {.batch = 2}, 1);
  constexpr std::int64_t kMostIterations = 1000;
  // Copies of a network share their parameters, which runs only read.
  const Outcome expected = outcome_of(
      [&] { return twice(*make_executor(network, {.iteration_budget = kMostIterations}), fed); });
  if (!expected.unstable.empty()) return "the reference: " + expected.unstable;
  for (const std::string& framework : frameworks_under_test()) {
    const Outcome got = outcome_of([&] { return twice(*own_executor(framework, network), fed); });
    if (!expected.error.empty() && checks_less(framework)) continue;  // it did not crash
    std::string wrong = difference(expected, got, framework + "'s own executor");
    if (!wrong.empty() && !is_known(network, fed, framework)) return wrong;
  }
  if (!expected.error.empty()) throw ValueError(expected.error);
  return {};
}

}  // namespace d5::fuzz
