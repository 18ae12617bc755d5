// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/run_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"
#include "d5/level1_network/graph/step_info.hpp"
#include "level1_network/plan/nested_graph.hpp"

namespace d5 {
namespace {

void give_up_idle_plans(const std::set<NestedGraph*>& nested) {
  // Graphs held by the plans are destroyed with them.
  for (NestedGraph* graph : std::vector(nested.begin(), nested.end())) {
    if (nested.contains(graph)) graph->give_up_idle_plans();
  }
}

}  // namespace

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

std::size_t RunState::most_bytes() const {
  return memory_limit > 0 ? std::min(memory_limit, memory_budget()) : memory_budget();
}

bool RunState::makes_room(std::size_t bytes) const {
  const std::size_t most = most_bytes();
  const auto has_room = [&] {
    return bytes <= most && planned <= most - bytes && *allocated <= most - bytes - planned;
  };
  if (has_room()) return true;
  give_up_idle_plans(nested);
  return has_room();
}

void RunState::throw_no_room(std::size_t bytes, std::string_view what) const {
  const bool limited = most_bytes() < memory_budget();
  throw MemoryError(
      fmt::format("{} allocates {} bytes, in addition to {} planned and {} held by this run, above "
                  "the memory {} of {} bytes; give smaller inputs (fewer iterations if values grow "
                  "in a loop), or raise the {}",
                  what, bytes, planned, *allocated, limited ? "limit" : "budget", most_bytes(),
                  limited ? "limit" : "budget (set_memory_budget)"));
}

std::shared_ptr<void> RunState::counted(std::size_t bytes) const {
  *allocated += bytes;
  return {allocated.get(), [total = allocated, bytes](void*) { *total -= bytes; }};
}

std::shared_ptr<void> RunState::reserve(std::size_t bytes, std::string_view what) const {
  if (!makes_room(bytes)) throw_no_room(bytes, what);
  return counted(bytes);
}

Tensor RunState::allocate(const TensorDesc& desc, std::string_view who) const {
  const std::size_t bytes = desc.bytes();
  if (!makes_room(bytes)) throw_no_room(bytes, fmt::format("{}: {}", who, to_string(desc)));
  struct Counted {
    std::shared_ptr<void> count;
    Tensor tensor;
  };
  auto owner = std::make_shared<Counted>(Counted{counted(bytes), Tensor::empty(desc)});
  void* data = owner->tensor.raw();
  return Tensor::borrow(desc, data, std::move(owner));
}

Tensor RunState::copy(const Tensor& tensor, std::string_view who) const {
  struct Counted {
    std::shared_ptr<void> characters;
    Tensor tensor;
  };
  auto owner = std::make_shared<Counted>();
  if (tensor.dtype() == DType::string) {
    std::size_t characters = 0;
    for (const std::string& text : tensor.span<std::string>()) characters += text.size();
    owner->characters = reserve(characters, fmt::format("{}: text", who));
  }
  owner->tensor = allocate(tensor.desc(), who);
  owner->tensor.copy_from(tensor);
  if (!owner->characters) return owner->tensor;
  void* data = owner->tensor.raw();
  return Tensor::borrow(tensor.desc(), data, std::move(owner));
}

std::string describe(const onnx::Node& node, std::string_view path) {
  std::string text =
      printable(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
  text += " '";  // without fmt, as a trace names every step of every run
  text += printable(path);
  text += '\'';
  return text;
}

std::string describe(const StepInfo& step) { return describe(step.node, step.path); }

NodeServices::NodeServices(RunState& state, const onnx::Node& node, std::string path)
    : state_(state),
      path_(std::move(path)),
      who_(describe(node, path_)),
      stream_(stream_of(node.name + '/' + (node.outputs.empty() ? "" : node.outputs.front()))) {}

NodeServices::~NodeServices() = default;

void NodeServices::bind_graphs(const Graphs& graphs, Mode mode, const Lookup& outer) {
  for (const auto& [name, graph] : graphs) {
    subgraphs_[name] = std::make_unique<NestedGraph>(graph, fmt::format("{}/{}", path_, name), mode,
                                                     state_, captured_gradients_, outer);
  }
}

SubgraphRunner& NodeServices::subgraph(std::string_view attribute) {
  if (const auto place = subgraphs_.find(attribute); place != subgraphs_.end()) {
    return *place->second;
  }
  throw NotFound(fmt::format("attribute {} holds no graph", printable(attribute)));
}

RandomStream NodeServices::random() {
  // Nested graphs run the same node several times in one run: the count separates their streams.
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  return RandomStream(state_.seed ^ (kOdd * state_.nested_runs), stream_, state_.run);
}

}  // namespace d5
