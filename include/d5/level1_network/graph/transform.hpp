// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// What a transform preserves, for every input.
enum class Keeps {
  gradients,  ///< outputs, and gradients of the remaining parameters, up to rounding
  outputs,    ///< outputs of inference, up to rounding
  rounded,    ///< outputs and gradients, up to the precision of a shorter type
};

/// Result of a transform.
struct TransformReport {
  std::string what;  ///< "folded 20 BatchNormalization into Conv"; empty: nothing was changed
  /// Candidates that were left unchanged, each with the reason: "BatchNormalization 'bn1': ...".
  std::vector<std::string> left = {};
};

/// Rewrites a network into an equivalent one. Each transform is one idea; they are chained.
///
///     class WithoutIdentity final : public Transform {
///      public:
///       TransformReport apply(Network& network) const override { ... network.splice(...); ... }
///     };
///     transforms().add("without-identity", TransformEntry::of<WithoutIdentity>("..."));
class Transform {
 public:
  virtual ~Transform() = default;
  /// Edits `network`; candidates that do not fit stay unchanged and are reported. Throws:
  /// Unsupported for a network that it cannot handle at all; what edits throw.
  virtual TransformReport apply(Network& network) const = 0;
  [[nodiscard]] virtual Keeps keeps() const { return Keeps::gradients; }
  /// Whether it is also applied to the graphs that nodes hold (If, Loop, Scan), before the graph
  /// around them. Each is presented as a network whose inputs are the graph's and the values that
  /// it captures.
  [[nodiscard]] virtual bool enters_graphs() const { return false; }
};

using TransformEntry = Entry<std::shared_ptr<Transform>()>;

/// Registered transforms: dead-code, fold-batch-norm, half-precision, ..., and a user's.
[[nodiscard]] Registry<TransformEntry>& transforms();

/// Transforms by name with their settings, in order.
using TransformChain = std::vector<EntryChoice>;

/// Parses words NAME[:KEY=VALUE]..., one for each transform.
///
///     apply_transforms(network, transform_chain({"dead-code", "half-precision:type=bfloat16"}));
///
/// Throws: NotFound for an unknown transform; ValueError for an unknown setting.
[[nodiscard]] TransformChain transform_chain(const std::vector<std::string>& words);
/// Writes "dead-code,half-precision:type=bfloat16", as the program takes it.
[[nodiscard]] std::string to_words(const TransformChain& chain);
/// Writes " --transform dead-code"; empty without transforms.
[[nodiscard]] std::string to_line(const TransformChain& chain);
/// The weakest guarantee of the chain's transforms. Throws: NotFound, ValueError.
[[nodiscard]] Keeps kept_by(const TransformChain& chain);

/// The effect of one transform of a chain.
struct AppliedTransform {
  std::string transform;  ///< with its settings
  std::size_t nodes_before, nodes_after;
  TransformReport report;
};
/// Edits `network` by the chain, as far as it gets: after each step the network is valid. `wishes`
/// are defaults for options that a transform has and the chain leaves open: "batch", "framework",
/// "memory", "seed".
///
///     apply_transforms(network, {{"fold-batch-norm"}, {"half-precision", {{"type",
///     "bfloat16"}}}});
///
/// Each step's result is checked against the network before it, in the reference on random inputs.
/// It is kept if the outputs agree up to rounding (docs/reference/level1.md, "How it is judged").
/// If that check was impossible, the report says "not judged" in `left`, and `doubt_of` the network
/// gives the reason.
///
/// Throws: NotFound, ValueError, before anything is changed; Unsupported for a network with a
/// Gradient node, whose meaning is the nodes before it; what the transforms throw; ContractError
/// for a step whose outputs differ, with the first node that differs. The network is then as before
/// that step.
std::vector<AppliedTransform> apply_transforms(Network& network, const TransformChain& chain,
                                               const Settings& wishes = {});

/// One row per transform, for people.
[[nodiscard]] TextTable to_table(const std::vector<AppliedTransform>& applied);

}  // namespace d5
