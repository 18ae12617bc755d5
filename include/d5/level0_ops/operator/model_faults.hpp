// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "d5/onnx/model.hpp"

namespace d5 {

/// A node of a model that a framework will compile, with known types and constants.
struct KnownNode {
  const onnx::Node& node;
  /// The type of input `i`. The element type is undefined if ONNX's rules do not determine it, as
  /// within a node's graphs.
  std::function<onnx::Type(std::size_t i)> type;
  /// The value of input `i` if it is an initializer or a Constant; otherwise null.
  std::function<const Tensor*(std::size_t i)> constant;
};

/// A known fault of a framework: a node that it compiles without error, but computes differently
/// from ONNX.
struct ModelFault {
  std::string_view op_type;
  /// Describes the unsupported feature, "transA, which it ignores"; empty if the node is computed
  /// correctly.
  std::string (*find)(const KnownNode&);
  std::string_view fixed_in = {};  ///< the first correct version; empty: none yet
};

/// Checks all nodes, including subgraphs. Nodes without a known fault cost a comparison of names.
/// Versions are numbers separated by dots, so "1.10" is newer than "1.9"; a suffix ("-rc1") is
/// ignored.
///
///     constexpr ModelFault kFaults[] = {{"Celu", in_celu, "1.32"}};
///     expect_no_fault(model, kFaults, "ONNX Runtime", "1.31.1");  // rejects a faulty Celu
///
/// Throws: Unsupported with the first faulty node, `framework` and the fault.
void expect_no_fault(const onnx::Model& model, std::span<const ModelFault> faults,
                     std::string_view framework, std::string_view version);

}  // namespace d5
