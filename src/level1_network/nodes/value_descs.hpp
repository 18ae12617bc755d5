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

/// Of `known` and all that the graph's nodes make of it, by the operators' own rules. Sizes that
/// are computed from sizes (Shape, Gather, Concat) are computed. Left out is what depends on data,
/// on what is not known, or on a node that nobody knows.
[[nodiscard]] ValueDescs infer_values(const onnx::Graph& graph, ValueDescs known);
/// The same from the inputs as the graph declares them; `size_of` is asked for each size that they
/// leave open, by its name or by none.
[[nodiscard]] ValueDescs infer_values(const onnx::Graph& graph,
                                      const std::function<std::int64_t(const onnx::Dim&)>& size_of);

/// What a graph makes of what it is fed, told without running it.
struct Inference {
  ValueDescs descs = {};
  KnownValues values = {};   ///< the same in each run, and small
  std::string refusal = {};  ///< of the first node whose rule these sizes break; empty: none
};
/// As `infer_values`; `values` are numbers that are known of inputs. Where they decide which branch
/// of an If is taken, what stands in it is told, too.
[[nodiscard]] Inference infer_graph(const onnx::Graph& graph, ValueDescs known,
                                    KnownValues values = {});
/// Its refusal alone: the walk ends there.
[[nodiscard]] std::string refusal_of(const onnx::Graph& graph, ValueDescs known,
                                     KnownValues values = {});

}  // namespace d5
