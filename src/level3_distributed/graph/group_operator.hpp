// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// An operator of a group of ranks. Its cost is that of memory; the group counts the traffic.
class GroupOperator : public MovingOperator {
 public:
  [[nodiscard]] Places gradients() const override { return {0}; }

 protected:
  explicit GroupOperator(const onnx::Node& node);
  [[nodiscard]] const std::shared_ptr<Communicator>& ranks() const { return ranks_; }
  /// The description of input 0 with `rows` as dimension 0. Throws: ShapeError for a scalar.
  [[nodiscard]] static TensorDesc with_rows(const InferContext& context, std::int64_t rows);
  /// Throws: ShapeError for a scalar.
  [[nodiscard]] static std::int64_t rows(const InferContext& context);

 private:
  std::shared_ptr<Communicator> ranks_;
};

/// A kernel that calls the group in every run; backward needs no values of forward.
class GroupKernel : public Kernel {
 public:
  explicit GroupKernel(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}
  void forward(OpContext& context) final;
  [[nodiscard]] KernelTraits traits() const final {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 protected:
  [[nodiscard]] Communicator& ranks() const { return *ranks_; }

 private:
  virtual void run(OpContext& context) = 0;
  std::shared_ptr<Communicator> ranks_;
};

/// Throws: NotFound if the attribute is missing, ValueError if it is not an int.
[[nodiscard]] int rank_attribute(const onnx::Node& node, std::string_view name);
/// The node's attribute "tag", default 0.
[[nodiscard]] int tag_attribute(const onnx::Node& node);

}  // namespace d5::detail
