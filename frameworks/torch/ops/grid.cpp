// SPDX-License-Identifier: Apache-2.0
// GridSample reads a tensor at the positions of a grid; AffineGrid computes such a grid.
#include <ATen/ops/affine_grid_generator.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/grid_sampler.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/zeros_like.h>

#include <string>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// Shapes: x N,C,spatial; grid N,outputs,rank; y N,C,outputs. One spatial dimension is treated as
/// the second of two.
class GridSample final : public TorchKernel {
  using View = nodes::GridSample;

 public:
  explicit GridSample(const PlanContext& context)
      : TorchKernel(context), align_corners_(View(node()).align_corners() != 0) {
    const std::string mode = View(node()).mode(), padding = View(node()).padding_mode();
    mode_ = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 2 : 0;
    padding_ = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[View::In::X];
    const at::Tensor grid = countable(inputs[View::In::grid].to(x.scalar_type()));
    if (x.dim() > 3) {
      results[0] = at::grid_sampler(x, grid, mode_, padding_, align_corners_);
      return;
    }
    const at::Tensor places = at::cat({grid, at::zeros_like(grid)}, 2).unsqueeze(1);
    results[0] =
        at::grid_sampler(x.unsqueeze(2), places, mode_, padding_, align_corners_).squeeze(2);
  }

 private:
  /// Torch converts positions to integers without a range check. NaN, and positions this far away,
  /// lie outside.
  static at::Tensor countable(const at::Tensor& grid) {
    constexpr double kFar = 1e4;
    return at::nan_to_num(grid, -kFar, kFar, -kFar).clamp(-kFar, kFar);
  }

  bool align_corners_;
  std::int64_t mode_, padding_;  // torch's enumerators
};

Support samples(const PlanContext& context) {
  const Shape& x = context.shape(0);
  const std::string mode = nodes::GridSample(context.node()).mode();
  if (x.rank() > 5) return {"GridSample over more than three dimensions"};
  if (x.rank() == 5 && (mode == "cubic" || mode == "bicubic")) {
    return {"cubic GridSample over three dimensions"};
  }
  if (!is_floating_point(context.dtype(0))) {
    return {"GridSample on " + std::string(name_of(context.dtype(0)))};
  }
  return computes_some(context);
}

class AffineGrid final : public TorchKernel {
  using View = nodes::AffineGrid;

 public:
  explicit AffineGrid(const PlanContext& context)
      : TorchKernel(context),
        size_(context.integers(View::In::size).values()),
        align_corners_(View(node()).align_corners() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::affine_grid_generator(inputs[View::In::theta], size_, align_corners_);
  }

 private:
  Sizes size_;
  bool align_corners_;
};

}  // namespace

void register_grid(OperatorRegistry& registry) {
  add<GridSample, nodes::GridSample>(registry, samples);
  add<AffineGrid, nodes::AffineGrid>(registry, computes_some);
}

}  // namespace d5::torch
