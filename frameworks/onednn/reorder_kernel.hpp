// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"
#include "pass.hpp"

namespace d5::onednn {

/// Reorders between row-major layout and oneDNN's layouts.
class ReorderKernel final : public Kernel {
 public:
  ReorderKernel(const TensorDesc& from, const TensorDesc& to);
  void forward(OpContext& context) override;

 private:
  Pass pass_;
  Tensor scratch_;  ///< allocated here, as a reorder has no plan to provide memory
};

}  // namespace d5::onednn
