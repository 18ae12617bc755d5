// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "d5/core/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

using ValueDescs = std::map<std::string, ValueDesc, std::less<>>;

/// Of `known` and all that the graph's nodes make of it, by the operators' own rules. Sizes that
/// are computed from sizes (Shape, Gather, Concat) are computed. Left out is what depends on data,
/// on what is not known, or on a node that nobody knows.
[[nodiscard]] ValueDescs infer_values(const onnx::Graph& graph, ValueDescs known);
/// The same from the inputs as the graph declares them; `size_of` is asked for each size that they
/// leave open, by its name or by none.
[[nodiscard]] ValueDescs infer_values(const onnx::Graph& graph,
                                      const std::function<std::int64_t(const onnx::Dim&)>& size_of);

}  // namespace d5
