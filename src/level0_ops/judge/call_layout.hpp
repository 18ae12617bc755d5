// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
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
  /// Draws the places of tensors that are read and written, and writes them into the process's
  /// orders.
  CallLayout(JudgedProcess& process, std::span<const ValueDesc> read,
             std::span<const ValueDesc> written, RandomStream& random);

  /// Writes the elements that are read.
  void put(std::span<const Value> read);
  /// Fills the pages that are written with drawn bytes.
  void poison();
  /// Copies of what was written. Its pages are cleared afterwards. Throws: JudgeFault if bytes
  /// beside the elements were written.
  [[nodiscard]] std::vector<Value> take();
  /// Number of elements of written tensor `i` that still have the bytes of `poison`.
  [[nodiscard]] std::int64_t unwritten(std::size_t i, const Tensor& taken) const;
  /// "output 0", "gradient of input 0": the name of written tensor `i`.
  [[nodiscard]] std::string name(std::size_t i) const {
    return tensor_name(process_.orders(), read_count_ + i);
  }
  /// Throws: JudgeFault if bytes that are read differ from those that were put.
  void expect_unchanged(std::span<const Value> read) const;

 private:
  [[nodiscard]] std::byte* elements(std::size_t i) const;

  JudgedProcess& process_;
  std::vector<ValueDesc> written_;
  std::vector<judged::Placed> placed_;  ///< those that are read, then those that are written
  std::size_t read_count_;
  std::vector<std::byte> poison_;  ///< a page of drawn bytes
};

}  // namespace d5::detail
