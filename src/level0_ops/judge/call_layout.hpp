// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"
#include "level0_ops/judge/judged_process.hpp"
#include "level0_ops/judge/protocol.hpp"

namespace d5::detail {

/// Bytes of shared memory that `tensors` need, at any drawn places.
[[nodiscard]] std::size_t shared_bytes(std::span<const ValueDesc> tensors);

/// Writes the node of a case into an order. Throws: Unsupported for names, attributes or numbers of
/// tensors that an order has no room for.
void write_node(judged::Orders& orders, const onnx::Node& node, int case_index);

/// The drawn places of one call's tensors in the memory of a process.
///
/// A tensor begins at its first page's begin or ends near its last page's end, with inaccessible
/// pages on both sides; bytes of its pages beside the elements are filled with drawn ones.
class CallLayout {
 public:
  /// Draws the places and writes them into the process's orders.
  CallLayout(JudgedProcess& process, std::span<const ValueDesc> inputs,
             std::span<const ValueDesc> outputs, RandomStream& random);

  /// Writes the inputs' elements.
  void put(std::span<const Value> inputs);
  /// Fills the outputs' pages with drawn bytes.
  void poison();
  /// Copies of the outputs. Their pages are cleared afterwards. Throws: JudgeFault if bytes beside
  /// the elements were written.
  [[nodiscard]] std::vector<Value> take();
  /// Number of elements of output `i` that still have the bytes of `poison`.
  [[nodiscard]] std::int64_t unwritten(std::size_t i, const Tensor& taken) const;
  /// Throws: JudgeFault if an input's bytes differ from those that were put.
  void expect_unchanged(std::span<const Value> inputs) const;

 private:
  [[nodiscard]] std::byte* elements(std::size_t i) const;

  JudgedProcess& process_;
  std::vector<ValueDesc> outputs_;
  std::vector<judged::Placed> placed_;  ///< inputs, then outputs
  std::size_t input_count_;
  std::vector<std::byte> poison_;  ///< a page of drawn bytes
};

}  // namespace d5::detail
