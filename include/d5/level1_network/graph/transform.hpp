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

/// What is the same after a transform, for every input.
enum class Keeps {
  gradients,  ///< outputs, and the gradients of the parameters that are left, but for rounding
  outputs,    ///< those of inference, but for rounding
  rounded,    ///< outputs and gradients, as closely as a shorter type holds them
};

/// What a transform did to a network.
struct TransformReport {
  std::string what;  ///< "folded 20 BatchNormalization into Conv"; empty: nothing was changed
  /// What looked like its work and stays, each with the reason: "BatchNormalization 'bn1': ...".
  std::vector<std::string> left = {};
};

/// Makes a network another one that computes the same: one idea, which others can follow.
///
///     class WithoutIdentity final : public Transform {
///      public:
///       TransformReport apply(Network& network) const override { ... network.splice(...); ... }
///     };
///     transforms().add("without-identity", TransformEntry::of<WithoutIdentity>("..."));
class Transform {
 public:
  virtual ~Transform() = default;
  /// Edits `network`; what does not fit stays as it is and is told. Throws: Unsupported for a
  /// network that it cannot take at all; what edits throw.
  virtual TransformReport apply(Network& network) const = 0;
  [[nodiscard]] virtual Keeps keeps() const { return Keeps::gradients; }
  /// Whether it is applied to the graphs that nodes hold (of If, Loop, Scan), too: before the graph
  /// around them, each as a network whose inputs are the graph's and what it captures.
  [[nodiscard]] virtual bool enters_graphs() const { return false; }
};

using TransformEntry = Entry<std::shared_ptr<Transform>()>;

/// dead-code, fold-batch-norm, half-precision, ..., and a user's.
[[nodiscard]] Registry<TransformEntry>& transforms();

/// Transforms by name, with their settings, one after the other.
using TransformChain = std::vector<EntryChoice>;

/// Of words NAME[:KEY=VALUE]..., one a transform.
///
///     apply_transforms(network, transform_chain({"dead-code", "half-precision:type=bfloat16"}));
///
/// Throws: NotFound, ValueError, for a name or a setting that no transform has.
[[nodiscard]] TransformChain transform_chain(const std::vector<std::string>& words);
/// "dead-code,half-precision:type=bfloat16", as the program takes it.
[[nodiscard]] std::string to_words(const TransformChain& chain);
/// " --transform dead-code", or nothing.
[[nodiscard]] std::string to_line(const TransformChain& chain);
/// The least that one of the chain keeps. Throws: NotFound, ValueError.
[[nodiscard]] Keeps kept_by(const TransformChain& chain);

/// What one transform of a chain did.
struct AppliedTransform {
  std::string transform;  ///< with its settings
  std::size_t nodes_before, nodes_after;
  TransformReport report;
};
/// Edits `network` by the chain, as far as it gets: each step leaves a network that is whole. Of
/// `wishes` a transform takes those that it has options for and the chain leaves open: "batch",
/// "framework", "memory", "seed".
///
///     apply_transforms(network, {{"fold-batch-norm"}, {"half-precision", {{"type",
///     "bfloat16"}}}});
///
/// What a step makes is run beside the network before it, in the reference on drawn inputs: it is
/// kept where it answers the same but for rounding (docs/reference/level1.md, "How it is judged").
/// A report says "not judged" in `left`, and `doubt_of` the network, where that could not be.
///
/// Throws: NotFound, ValueError, before anything is changed; Unsupported for a network with a node
/// Gradient, whose meaning is the nodes before it; what the transforms throw; ContractError for a
/// step that answers otherwise, with the first node that differs: the network is as before it.
std::vector<AppliedTransform> apply_transforms(Network& network, const TransformChain& chain,
                                               const Settings& wishes = {});

/// A row for each transform, for people.
[[nodiscard]] TextTable to_table(const std::vector<AppliedTransform>& applied);

}  // namespace d5
