// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/split_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Sizes = std::vector<std::int64_t>;

/// The first opsets with these numbers as inputs; older ones have attributes.
constexpr int kSplitInputs = 13, kSliceInputs = 10;

class SegmentSplit {
 public:
  SegmentSplit(const Network& network, const BatchSegment& segment, const Sizes& sizes,
               Splice& change)
      : network_(network), segment_(segment), sizes_(sizes), change_(change) {
    const auto opset = network.model().opset_imports.find("");
    opset_ = opset == network.model().opset_imports.end() ? kSplitInputs : opset->second;
  }

  void run() {
    const auto fed = network_.input_names();
    const auto is_fed = [&](const auto& name) { return std::ranges::find(fed, name) != fed.end(); };
    for (const auto& name : segment_.entering) {
      if (!is_fed(name)) cut_at_once(name);
    }
    std::int64_t begin = 0;
    for (std::size_t piece = 0; piece < sizes_.size(); ++piece) {
      // Inputs of the network are in memory anyway, so one piece at a time suffices.
      for (const auto& name : segment_.entering) {
        if (is_fed(name)) cut(name, piece, begin, begin + sizes_[piece]);
      }
      add_piece(piece);
      begin += sizes_[piece];
    }
    for (const auto& name : segment_.leaving) join(name);
  }

 private:
  [[nodiscard]] std::string in_piece(const std::string& tensor, std::size_t piece) const {
    return network_.unused_name(fmt::format("{}.micro{}", tensor, piece));
  }
  /// Name of a piece of an entering tensor; another segment may have pieces of it, too.
  [[nodiscard]] std::string part(const std::string& tensor, std::size_t piece) const {
    return network_.unused_name(fmt::format("{}.part{}", tensor, piece));
  }
  onnx::Node& add(const char* op_type) {
    onnx::Node& node = change_.nodes.emplace_back();
    node.op_type = op_type;
    return node;
  }
  /// Sets numbers that newer opsets read from the node's next input.
  void give(onnx::Node& node, int since, const std::string& name, const Sizes& numbers) {
    if (opset_ < since) {
      node.attributes[name] = numbers;
      return;
    }
    const std::string constant =
        network_.unused_name(fmt::format("{}.{}", first_output(node), name));
    change_.constants[constant] = Tensor::vector<std::int64_t>(numbers);
    node.inputs.push_back(constant);
  }

  void cut_at_once(const std::string& tensor) {
    onnx::Node& node = add("Split");
    node.inputs = {tensor};
    for (std::size_t p = 0; p < sizes_.size(); ++p) node.outputs.push_back(part(tensor, p));
    node.attributes["axis"] = std::int64_t{0};
    give(node, kSplitInputs, "split", sizes_);
  }
  void cut(const std::string& tensor, std::size_t piece, std::int64_t begin, std::int64_t end) {
    onnx::Node& node = add("Slice");
    node.inputs = {tensor};
    node.outputs = {part(tensor, piece)};
    give(node, kSliceInputs, "starts", {begin});
    give(node, kSliceInputs, "ends", {end});
    give(node, kSliceInputs, "axes", {0});
  }

  void add_piece(std::size_t piece) {
    NewNames names;
    for (const auto& name : segment_.entering) names[name] = part(name, piece);
    for (const std::size_t n : segment_.nodes) {
      for (const auto& output : network_.graph().nodes[n].outputs) {
        if (!output.empty()) names[output] = in_piece(output, piece);
      }
    }
    for (const std::size_t n : segment_.nodes) {
      onnx::Node& node = change_.nodes.emplace_back(network_.graph().nodes[n]);
      if (piece == 0) change_.remove.push_back(first_output(node));
      if (!node.name.empty()) node.name += fmt::format(".micro{}", piece);
      rename_reads(node, names);
      for (auto& output : node.outputs) {
        if (!output.empty()) output = names.at(output);
      }
    }
  }

  void join(const std::string& tensor) {
    onnx::Node& node = add("Concat");
    for (std::size_t p = 0; p < sizes_.size(); ++p) node.inputs.push_back(in_piece(tensor, p));
    node.outputs = {tensor};
    node.attributes["axis"] = std::int64_t{0};
  }

  const Network& network_;
  const BatchSegment& segment_;
  const Sizes& sizes_;
  int opset_ = 0;
  Splice& change_;
};

}  // namespace

void split_segment(const Network& network, const BatchSegment& segment, const Sizes& sizes,
                   Splice& change) {
  SegmentSplit(network, segment, sizes, change).run();
}

}  // namespace d5
