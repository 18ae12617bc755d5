// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Removes sequences from a graph that is to be differentiated, because only tensors have
/// gradients. If all elements of a sequence are known by name at compile time, every reader of an
/// element reads that tensor.
///
///     SplitToSequence -> SequenceAt            becomes Split -> Identity
///     SequenceConstruct -> ConcatFromSequence  becomes Concat
///
/// A sequence stays if its length, or the index that is read, is known only at run time (an input,
/// an output of If, Loop, Scan or SequenceMap, a split of an unknown shape), and for nested graphs
/// that capture it.
class StaticSequences {
 public:
  /// `draft` must be resolved up to the requested node.
  explicit StaticSequences(Draft& draft);

  /// Nodes that replace `node`, on tensors instead of a sequence; empty if it stays.
  [[nodiscard]] std::optional<std::vector<onnx::Node>> unrolled(const onnx::Node& node);
  /// The node that makes the sequence of that name for a reader of the whole; empty if there is
  /// none, or it was made already.
  [[nodiscard]] std::optional<onnx::Node> construct(const std::string& name) const;

 private:
  using Names = std::vector<std::string>;
  using Unrolled = std::optional<std::vector<onnx::Node>>;
  Unrolled sequence_construct(const onnx::Node& node);
  Unrolled sequence_insert(const onnx::Node& node);
  Unrolled sequence_erase(const onnx::Node& node);
  Unrolled sequence_at(const onnx::Node& node);
  Unrolled sequence_length(const onnx::Node& node);
  Unrolled concat_from_sequence(const onnx::Node& node);
  Unrolled split_to_sequence(const onnx::Node& node);

  [[nodiscard]] Names parts_of(const std::string& name, std::size_t count);
  [[nodiscard]] const Names* elements_of(const std::string& name) const;
  [[nodiscard]] bool are_alike(const Names& elements) const;
  [[nodiscard]] const Tensor* constant(const onnx::Node& node, std::size_t i) const;
  [[nodiscard]] std::optional<std::size_t> position(const onnx::Node& node, std::size_t i,
                                                    std::size_t size, std::size_t last) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> lengths(const onnx::Node& split,
                                                                 std::int64_t size) const;

  Draft& draft_;
  std::set<std::string> taken_;            ///< names, by the graph or by parts
  std::map<std::string, Names> elements_;  ///< names of each sequence's tensors
};

}  // namespace d5
