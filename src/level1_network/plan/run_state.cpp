// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/run_state.hpp"

#include <fmt/format.h>

#include "d5/core/device_memory.hpp"
#include "d5/core/error.hpp"
#include "level1_network/plan/nested_graph.hpp"

namespace d5 {

const RunState::PlacedNodes* RunState::placed_by(const onnx::Node& node) const {
  for (const PlacedNodes& nodes : placed) {
    if (applies(nodes.rule, node)) return &nodes;
  }
  return nullptr;
}

const FrameworkChoice& RunState::frameworks_for(const onnx::Node& node) const {
  const PlacedNodes* nodes = placed_by(node);
  return nodes ? nodes->frameworks : frameworks;
}

Stream& RunState::stream(Device device) {
  if (device == Device{}) return host_stream();
  auto& stream = streams[device];
  if (!stream) stream = make_stream(device);
  return *stream;
}

Tensor RunState::allocate(const TensorDesc& desc) const {
  const std::size_t bytes = desc.bytes();
  if (bytes > memory_budget() || *allocated > memory_budget() - bytes) {
    throw MemoryError(fmt::format(
        "{} takes {} bytes, with {} allocated by this run already, above the memory budget of {}",
        to_string(desc), bytes, *allocated, memory_budget()));
  }
  if (memory_limit > 0 && planned + *allocated + bytes > memory_limit) {
    throw MemoryError(fmt::format(
        "{} takes {} bytes, with {} planned and {} allocated by this run already, above the memory "
        "limit of {} bytes; raise it, or give a smaller batch",
        to_string(desc), bytes, planned, *allocated, memory_limit));
  }
  Tensor tensor = Tensor::empty(desc);
  *allocated += bytes;
  struct Counted {
    Tensor tensor;
    std::shared_ptr<std::size_t> total;
    std::size_t bytes;
    ~Counted() { *total -= bytes; }
  };
  void* data = tensor.raw();
  auto owner = std::make_shared<Counted>(std::move(tensor), allocated, bytes);
  return Tensor::borrow(desc, data, std::move(owner));
}

NodeServices::NodeServices(RunState& state, const onnx::Node& node)
    : state_(state),
      stream_(stream_of(node.name + '/' + (node.outputs.empty() ? "" : node.outputs.front()))) {}

NodeServices::~NodeServices() = default;

void NodeServices::bind_graphs(const Graphs& graphs, Mode mode, const Lookup& outer) {
  for (const auto& [name, graph] : graphs) {
    subgraphs_[name] =
        std::make_unique<NestedGraph>(graph, mode, state_, captured_gradients_, outer);
  }
}

SubgraphRunner& NodeServices::subgraph(std::string_view attribute) {
  if (const auto place = subgraphs_.find(attribute); place != subgraphs_.end()) {
    return *place->second;
  }
  throw NotFound(fmt::format("attribute {} holds no graph", printable(attribute)));
}

RandomStream NodeServices::random() {
  // Nested graphs run the same node several times in one run: the count keeps their streams apart.
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  return RandomStream(state_.seed ^ (kOdd * state_.nested_runs), stream_, state_.run);
}

}  // namespace d5
