// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/batch_regions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "level1_network/graph/graph_links.hpp"
#include "level1_network/micro_batch/batch_parallel.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostPlaces = 64;

bool has_rows(const ValueDescs& descs, const std::string& tensor, std::int64_t rows) {
  const auto desc = descs.find(tensor);
  return desc != descs.end() && desc->second.is_tensor() && desc->second.tensor.shape.rank() > 0 &&
         desc->second.tensor.shape[0] == rows;
}

}  // namespace

BatchRegions::BatchRegions(const Network& network, const ValueDescs& descs, std::int64_t batch,
                           bool trained)
    : network_(network) {
  for (const auto& name : network.input_names()) {
    if (!has_rows(descs, name, batch)) continue;
    batches_.insert(name);
    inputs_.push_back(name);
  }
  std::vector<std::size_t> nodes;
  const onnx::Graph& graph = network.graph();
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const onnx::Node& node = graph.nodes[n];
    const auto reads = read_names(node);
    if (std::ranges::none_of(reads, [&](const auto& name) { return is_batch(name); })) continue;
    bool rows = true;
    for (const auto& output : node.outputs) {
      if (output.empty()) continue;
      const bool is_one = has_rows(descs, output, batch);
      if (is_one) batches_.insert(output);
      rows = rows && is_one;
    }
    Places batched;
    for (std::size_t i = 0; i < std::min(node.inputs.size(), kMostPlaces); ++i) {
      if (is_batch(node.inputs[i])) batched.add(i);
    }
    if (rows && node.inputs.size() <= kMostPlaces &&
        is_batch_parallel(node, batched, graph, descs, trained)) {
      nodes.push_back(n);
    } else {
      add_region(std::exchange(nodes, {}));
    }
  }
  add_region(std::move(nodes));
}

void BatchRegions::add_region(std::vector<std::size_t> nodes) {
  if (nodes.empty()) return;
  const auto& all = network_.graph().nodes;
  std::map<std::string, std::size_t> last_read;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    for (const auto& input : all[nodes[k]].inputs) {
      if (is_batch(input)) last_read[input] = k;
    }
  }
  BatchRegion region{.nodes = std::move(nodes), .cuts = {0}};
  std::set<std::string> there;  // batches that nodes before the cut write and some after it read
  for (std::size_t k = 0; k < region.nodes.size(); ++k) {
    const onnx::Node& node = all[region.nodes[k]];
    for (const auto* names : {&node.inputs, &node.outputs}) {
      for (const auto& name : *names) {
        if (is_batch(name) && last_read.contains(name)) there.insert(name);
      }
    }
    std::erase_if(there, [&](const auto& name) { return last_read[name] <= k; });
    if (there.size() <= 1 || k + 1 == region.nodes.size()) region.cuts.push_back(k + 1);
  }
  regions_.push_back(std::move(region));
}

BatchSegment BatchRegions::segment(const BatchRegion& region, std::size_t begin,
                                   std::size_t end) const {
  const auto& all = network_.graph().nodes;
  const GraphLinks links(network_);
  BatchSegment result;
  result.nodes.assign(region.nodes.begin() + std::ptrdiff_t(begin),
                      region.nodes.begin() + std::ptrdiff_t(end));
  std::set<std::string> written;
  std::set<const onnx::Node*> inside;
  for (const std::size_t n : result.nodes) {
    inside.insert(&all[n]);
    for (const auto& input : all[n].inputs) {
      if (!is_batch(input) || written.contains(input)) continue;
      if (std::ranges::find(result.entering, input) == result.entering.end()) {
        result.entering.push_back(input);
      }
    }
    written.insert(all[n].outputs.begin(), all[n].outputs.end());
  }
  for (const auto& output : written) {
    if (output.empty()) continue;
    const auto& readers = links.readers(output);
    const bool read_outside = std::ranges::any_of(
        readers, [&](const onnx::Node* reader) { return !inside.contains(reader); });
    if (links.leaves(output) || read_outside) result.leaving.push_back(output);
  }
  return result;
}

}  // namespace d5
