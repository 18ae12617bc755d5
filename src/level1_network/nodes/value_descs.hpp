// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

using ValueDescs = std::map<std::string, ValueDesc, std::less<>>;
using KnownValues = std::map<std::string, Value, std::less<>>;

/// Infers the types and shapes of all values from `known`, by the operators' own rules. Sizes
/// computed from sizes (Shape, Gather, Concat) are computed. Values that depend on data, on unknown
/// values, or on a node of an unknown operator are left out.
[[nodiscard]] ValueDescs infer_values(const onnx::Graph& graph, ValueDescs known);
/// The same from the inputs as the graph declares them; `size_of` gives each open size, by its name
/// or an empty one.
[[nodiscard]] ValueDescs infer_values(const onnx::Graph& graph,
                                      const std::function<std::int64_t(const onnx::Dim&)>& size_of);

/// Result of inferring a graph's values without running it.
struct Inference {
  ValueDescs descs = {};
  KnownValues values = {};   ///< the same in each run, and small
  std::string refusal = {};  ///< from the first node whose rule rejects these sizes; empty: none
};
/// Infers like `infer_values`; `values` are known values of inputs. If they decide the branch of an
/// If, values in that branch are inferred, too.
[[nodiscard]] Inference infer_graph(const onnx::Graph& graph, ValueDescs known,
                                    KnownValues values = {});
/// Only the refusal; inference stops there.
[[nodiscard]] std::string refusal_of(const onnx::Graph& graph, ValueDescs known,
                                     KnownValues values = {});

}  // namespace d5
