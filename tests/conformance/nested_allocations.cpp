// SPDX-License-Identifier: Apache-2.0
// Graphs that nodes hold, of fixed sizes, run without allocation once each was run; those of a Scan
// allocate nothing for a slice.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "conformance/heap_watch.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace {

using namespace d5;
using Names = std::vector<std::string>;

onnx::Node node(const std::string& op_type, Names inputs, Names outputs) {
  onnx::Node result;
  result.op_type = op_type;
  result.opset = 21;
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

std::shared_ptr<const onnx::Graph> graph(const Names& inputs, std::vector<onnx::Node> nodes,
                                         const Names& outputs) {
  auto result = std::make_shared<onnx::Graph>();
  for (const auto& name : inputs) result->inputs.push_back({name, {}});
  result->nodes = std::move(nodes);
  for (const auto& name : outputs) result->outputs.push_back({name, {}});
  return result;
}

Network with_input() {
  Network network("nested");
  network.add_input("x", DType::float32, {4, 8});
  network.add_input("flag", DType::boolean, {});
  network.add_input("rounds", DType::int64, {});
  return network;
}

Network branches() {
  Network network = with_input();
  network.add_node("If", {"flag"}, {"y"},
                   {{"then_branch",
                     graph({}, {node("Exp", {"x"}, {"e"}), node("Softmax", {"e"}, {"s"})}, {"s"})},
                    {"else_branch", graph({}, {node("Tanh", {"x"}, {"t"})}, {"t"})}});
  network.add_node("Relu", {"y"}, {"z"});
  network.add_output("z");
  return network;
}

/// A variable, and what it was in each round; in each round an If.
Network loop() {
  Network network = with_input();
  auto choice = node("If", {"flag"}, {"w"});
  choice.attributes["then_branch"] = graph({}, {node("Tanh", {"v"}, {"t"})}, {"t"});
  choice.attributes["else_branch"] = graph({}, {node("Exp", {"v"}, {"t"})}, {"t"});
  network.add_node("Loop", {"rounds", "", "x"}, {"last", "all"},
                   {{"body", graph({"i", "go", "v"},
                                   {node("Identity", {"go"}, {"goes"}), choice,
                                    node("Identity", {"v"}, {"slice"})},
                                   {"goes", "w", "slice"})}});
  network.add_output("last");
  network.add_output("all");
  return network;
}

/// A state, and what it was at each row.
Network scan() {
  Network network("scan");
  network.add_input("first", DType::float32, {8});
  network.add_input("x", DType::float32, {"N", std::int64_t{8}});
  network.add_node(
      "Scan", {"first", "x"}, {"last", "all"},
      {{"num_scan_inputs", std::int64_t{1}},
       {"body",
        graph({"s", "row"}, {node("Add", {"s", "row"}, {"t"}), node("Identity", {"row"}, {"same"})},
              {"t", "same"})}});
  network.add_output("last");
  network.add_output("all");
  return network;
}

/// The number of allocations in a repeated run over that many rows.
std::size_t allocations_of_scan(std::int64_t rows) {
  const auto executor = make_executor(scan());
  const ValueMap inputs{{"first", Tensor::zeros(DType::float32, {8})},
                        {"x", Tensor::zeros(DType::float32, {rows, 8})}};
  for (int run = 0; run < 4; ++run) (void)executor->inference(inputs);
  conformance::HeapWatch heap;
  (void)executor->inference(inputs);
  heap.stop();
  return heap.count();
}

/// The number of allocations in a repeated run.
std::size_t allocations(const std::string& name, const Network& network) {
  const auto executor = make_executor(network);
  std::size_t found = 0;
  for (const bool flag : {false, true}) {
    const ValueMap inputs{{"x", Tensor::zeros(DType::float32, {4, 8})},
                          {"flag", Tensor::scalar(flag)},
                          {"rounds", Tensor::scalar(std::int64_t{5})}};
    for (int run = 0; run < 4; ++run) (void)executor->inference(inputs);
    conformance::HeapWatch heap;
    (void)executor->inference(inputs);
    heap.stop();
    if (heap.count() > 0) std::printf("%s: %s\n", name.c_str(), heap.first().c_str());
    found += heap.count();
  }
  return found;
}

}  // namespace

int main() {
  const std::size_t found = allocations("If", branches()) + allocations("Loop", loop());
  std::printf("%zu allocations\n", found);
  // A Scan makes the list of its slices in each run, and nothing for each slice.
  const std::size_t few = allocations_of_scan(4), many = allocations_of_scan(400);
  std::printf("Scan: %zu of 4 rows, %zu of 400\n", few, many);
  return found == 0 && few == many ? 0 : 1;
}
