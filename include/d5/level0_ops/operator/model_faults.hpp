// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "d5/onnx/model.hpp"

namespace d5 {

/// A node of a model that somebody else compiles, and what is known of its values by then.
struct KnownNode {
  const onnx::Node& node;
  /// The type of input `i`; of an undefined element type where ONNX's rules do not tell it, as
  /// within a node's graphs.
  std::function<onnx::Type(std::size_t i)> type;
  /// The value of input `i`, of an initializer or a Constant; null for any other.
  std::function<const Tensor*(std::size_t i)> constant;
};

/// What a framework compiles without complaint, and computes otherwise than ONNX says.
struct ModelFault {
  std::string_view op_type;
  /// What the framework does not support, "transA, which it ignores"; empty: it is right here.
  std::string (*find)(const KnownNode&);
  std::string_view fixed_in = {};  ///< the first version that is right; empty: there is none yet
};

/// Looks at all nodes, subgraphs included; each costs a comparison of names unless it has a row.
/// Versions are numbers divided by dots, "1.10" after "1.9"; what follows them ("-rc1") does not
/// count.
///
///     constexpr ModelFault kFaults[] = {{"Celu", in_celu, "1.32"}};
///     expect_no_fault(model, kFaults, "ONNX Runtime", "1.31.1");  // Celu is looked at
///
/// Throws: Unsupported with the first node, `framework` and what was found.
void expect_no_fault(const onnx::Model& model, std::span<const ModelFault> faults,
                     std::string_view framework, std::string_view version);

}  // namespace d5
