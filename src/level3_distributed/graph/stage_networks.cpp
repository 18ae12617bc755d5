// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

/// The nodes that write and read each tensor, by index in the graph.
struct TensorUse {
  std::map<std::string, std::size_t, std::less<>> writer;
  std::map<std::string, std::set<std::size_t>, std::less<>> readers;

  explicit TensorUse(const Network& network) {
    const auto& nodes = network.graph().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& name : read_names(nodes[i])) {
        if (!name.empty()) readers[name].insert(i);
      }
      for (const auto& name : nodes[i].outputs) {
        if (!name.empty()) writer[name] = i;
      }
    }
  }
};

/// Null if the tensor's shape is unknown before the network runs.
const TensorDesc* known_desc(const NetworkSummary& summary, const std::string& name) {
  const auto place = summary.tensors.find(name);
  if (place == summary.tensors.end() || !place->second.desc.is_tensor()) return nullptr;
  const TensorDesc& desc = place->second.desc.tensor;
  return std::ranges::find(desc.shape.dims(), kUnknownDim) == desc.shape.dims().end() ? &desc
                                                                                      : nullptr;
}

class StageCut {
 public:
  StageCut(const Network& network, const std::vector<std::size_t>& starts, const OpenSizes& sizes)
      : network_(network), starts_(starts), use_(network), summary_(summarise(network, sizes)) {
    expect_ascending();
    for (const auto& [name, value] : network.graph().initializers) {
      if (network.is_parameter(name)) expect_one_reader(name);
    }
    find_cuts();
  }

  [[nodiscard]] const std::vector<CutTensor>& tensors() const { return cuts_; }

  [[nodiscard]] NetworkPart part(int stage) const {
    NetworkPart part{Network(fmt::format("{}.stage{}", network_.name(), stage)), {}, {}};
    onnx::Model model = network_.model();
    onnx::Graph& graph = model.graph;
    graph.name = part.network.name();
    const std::size_t begin = starts_[std::size_t(stage)];
    const std::size_t end = std::size_t(stage) + 1 < starts_.size()
                                ? starts_[std::size_t(stage) + 1]
                                : graph.nodes.size();
    std::set<std::string, std::less<>> read, written;
    for (std::size_t i = begin; i < end; ++i) {
      for (const auto& name : read_names(graph.nodes[i])) read.insert(name);
      written.insert(graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end());
    }
    graph.nodes = {graph.nodes.begin() + std::ptrdiff_t(begin),
                   graph.nodes.begin() + std::ptrdiff_t(end)};
    std::erase_if(graph.inputs, [&](const auto& input) { return !read.contains(input.name); });
    std::erase_if(graph.outputs,
                  [&](const auto& output) { return !written.contains(output.name); });
    std::erase_if(graph.values, [&](const auto& value) { return !written.contains(value.name); });
    for (const CutTensor& cut : cuts_) {
      if (cut.from == stage) {
        part.sends.push_back(cut);
        const bool is_output = std::ranges::find(graph.outputs, cut.name, &onnx::ValueInfo::name) !=
                               graph.outputs.end();
        if (!is_output) graph.outputs.push_back({cut.name, type_of(cut)});
      } else if (std::ranges::find(cut.to, stage) != cut.to.end()) {
        part.receives.push_back(cut);
        graph.inputs.push_back({cut.name, type_of(cut)});
      }
    }
    const auto is_elsewhere = [&](const auto& one) {
      const bool nobody_reads =
          network_.is_parameter(one.first) && !use_.readers.contains(one.first);
      return !read.contains(one.first) && (!nobody_reads || stage != 0);
    };
    std::erase_if(graph.initializers, is_elsewhere);
    for (auto& [name, value] : graph.initializers) {
      value = value.copy();
      if (network_.is_parameter(name)) part.network.add_parameter(name, value);
    }
    part.network.rewrite(std::move(model));
    for (const auto& [constant, output] : network_.updates()) {
      if (written.contains(output)) part.network.add_update(constant, output);
    }
    return part;
  }

 private:
  void expect_ascending() const {
    const std::size_t nodes = network_.graph().nodes.size();
    const bool good = !starts_.empty() && starts_.front() == 0 && starts_.back() < nodes &&
                      std::ranges::adjacent_find(starts_, std::greater_equal{}) == starts_.end();
    if (good) return;
    throw ValueError(
        fmt::format("stages of {} that begin at nodes {}: expected 0, then ascending numbers below "
                    "{}, because no stage may be empty",
                    printable(network_.name()), fmt::join(starts_, ", "), nodes));
  }

  [[nodiscard]] int stage_of(std::size_t node) const {
    return int(std::ranges::upper_bound(starts_, node) - starts_.begin()) - 1;
  }
  [[nodiscard]] std::set<int> reading_stages(const std::string& name) const {
    std::set<int> stages;
    const auto readers = use_.readers.find(name);
    if (readers == use_.readers.end()) return stages;
    for (const std::size_t node : readers->second) stages.insert(stage_of(node));
    return stages;
  }

  void expect_one_reader(const std::string& parameter) const {
    const auto stages = reading_stages(parameter);
    if (stages.size() < 2) return;
    throw Unsupported(
        fmt::format("parameter '{}' is read by stages {} of a pipeline, whose gradients would "
                    "differ; cut where "
                    "one stage has all that reads it",
                    printable(parameter), fmt::join(stages, ", ")));
  }

  void find_cuts() {
    for (const auto& node : network_.graph().nodes) {
      for (const auto& name : node.outputs) {
        if (name.empty()) continue;
        const int from = stage_of(use_.writer.at(name));
        CutTensor cut{
            .name = name, .desc = {}, .from = from, .to = {}, .number = int(cuts_.size())};
        for (const int stage : reading_stages(name)) {
          if (stage != from) cut.to.push_back(stage);
        }
        if (cut.to.empty()) continue;
        const TensorDesc* desc = known_desc(summary_, name);
        if (!desc) {
          throw Unsupported(
              fmt::format("'{}' goes from stage {} to {}, but is not a tensor whose shape is known "
                          "before it runs; cut elsewhere",
                          printable(name), from, fmt::join(cut.to, ", ")));
        }
        cut.desc = *desc;
        cuts_.push_back(std::move(cut));
      }
    }
  }

  [[nodiscard]] static onnx::Type type_of(const CutTensor& cut) {
    onnx::Type type;
    type.kind = ValueKind::tensor;
    type.dtype = cut.desc.dtype;
    type.has_shape = true;
    type.dims.resize(cut.desc.shape.rank());  // open: micro-batches may differ in size
    return type;
  }

  const Network& network_;
  const std::vector<std::size_t>& starts_;
  TensorUse use_;
  NetworkSummary summary_;
  std::vector<CutTensor> cuts_;
};

}  // namespace

std::vector<double> crossing_bytes(const Network& network, const OpenSizes& sizes) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const TensorUse use(network);
  const NetworkSummary summary = summarise(network, sizes);
  std::vector<double> bytes(network.graph().nodes.size(), 0);
  const auto add = [&](std::size_t after, std::size_t until, double amount) {
    for (std::size_t cut = after + 1; cut <= until; ++cut) bytes[cut] += amount;
  };
  for (const auto& [name, readers] : use.readers) {
    if (network.is_parameter(name)) add(*readers.begin(), *readers.rbegin(), kNever);
    const auto writer = use.writer.find(name);
    if (writer == use.writer.end()) continue;
    const TensorDesc* desc = known_desc(summary, name);
    add(writer->second, *readers.rbegin(),
        desc ? double(desc->elements()) * double(size_of(desc->dtype)) : kNever);
  }
  return bytes;
}

std::vector<NetworkPart> cut_into_stages(const Network& network,
                                         const std::vector<std::size_t>& starts,
                                         const OpenSizes& sizes) {
  const StageCut cut(network, starts, sizes);
  std::vector<NetworkPart> parts;
  for (int stage = 0; stage < int(starts.size()); ++stage) parts.push_back(cut.part(stage));
  return parts;
}

NetworkPart cut_out_stage(const Network& network, const std::vector<std::size_t>& starts, int stage,
                          const OpenSizes& sizes) {
  return StageCut(network, starts, sizes).part(stage);
}

std::vector<CutTensor> cut_tensors(const Network& network, const std::vector<std::size_t>& starts,
                                   const OpenSizes& sizes) {
  return StageCut(network, starts, sizes).tensors();
}

}  // namespace d5
