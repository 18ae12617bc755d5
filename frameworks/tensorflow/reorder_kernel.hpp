// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/level0_ops/operator/kernel.hpp"
#include "eager_program.hpp"
#include "graph.hpp"
#include "tensor_view.hpp"

namespace d5::tensorflow {

/// Reorders between row-major layout and TensorFlow's dimension orders.
class ReorderKernel final : public Kernel {
 public:
  ReorderKernel(const TensorDesc& from, const TensorDesc& to);
  void forward(OpContext& context) override;

 private:
  Graph graph_;
  Terms x_, y_;
  std::optional<EagerProgram> program_;
  HandleView view_;
};

}  // namespace d5::tensorflow
