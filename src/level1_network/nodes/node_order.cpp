// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/node_order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>

#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

/// Dependencies between nodes, by index.
struct Waiting {
  explicit Waiting(const std::vector<onnx::Node>& nodes)
      : readers(nodes.size()), count(nodes.size()) {
    std::map<std::string, std::size_t> writers;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& output : nodes[i].outputs) writers[output] = i;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& name : read_names(nodes[i])) {
        const auto writer = writers.find(name);
        if (writer == writers.end()) continue;
        readers[writer->second].push_back(i);
        ++count[i];
      }
    }
  }
  std::vector<std::vector<std::size_t>> readers;
  std::vector<std::size_t> count;  ///< missing inputs of each node
};

[[noreturn]] void throw_cycle(const std::vector<onnx::Node>& nodes, const Waiting& waiting) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < nodes.size() && names.size() < kMost; ++i) {
    if (waiting.count[i] > 0) names.push_back(onnx::describe(nodes[i]));
  }
  throw ValueError(
      fmt::format("the edit closes a cycle, through {}: a node would depend on its own output; let "
                  "it read another tensor",
                  fmt::join(names, ", ")));
}

}  // namespace

std::vector<onnx::Node> in_order(std::vector<onnx::Node> nodes) {
  Waiting waiting(nodes);
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waiting.count[i] == 0) ready.insert(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const std::size_t reader : waiting.readers[next]) {
      if (--waiting.count[reader] == 0) ready.insert(reader);
    }
  }
  if (order.size() < nodes.size()) throw_cycle(nodes, waiting);
  std::vector<onnx::Node> result;
  result.reserve(nodes.size());
  for (const std::size_t place : order) result.push_back(std::move(nodes[place]));
  return result;
}

}  // namespace d5
