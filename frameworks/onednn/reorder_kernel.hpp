// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"
#include "pass.hpp"

namespace d5::onednn {

/// From rows or one of oneDNN's layouts to rows or another of them.
class ReorderKernel final : public Kernel {
 public:
  ReorderKernel(const TensorDesc& from, const TensorDesc& to);
  void forward(OpContext& context) override;

 private:
  Pass pass_;
  Tensor scratch_;  ///< of its own: a reorder has no plan that it could ask for memory
};

}  // namespace d5::onednn
