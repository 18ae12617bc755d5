// SPDX-License-Identifier: Apache-2.0
// Operators that move elements or change their indices: reorders.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

namespace nodes = onnx::nodes;

/// The same elements with another shape; layouts of oneDNN are converted to row-major.
class Relabel : public OneDnnKernel {
 public:
  explicit Relabel(PlanContext& context) : OneDnnKernel(context) {
    const Desc x = rows(context.input(0));
    forward_.reorder(input_as_found(0), output(0).as(x));
    if (context.wants_grad(0)) backward_.reorder(grad_output(0).as(x), grad_input(0));
    traits_.backward_reads_inputs = {};
  }
};

/// Shapes: y has the sizes of x in the order `perm`.
class Transpose final : public OneDnnKernel {
 public:
  explicit Transpose(PlanContext& context) : OneDnnKernel(context) {
    const std::size_t rank = context.shape(0).rank();
    std::vector<std::int64_t> perm(rank);
    std::iota(perm.rbegin(), perm.rend(), std::int64_t{0});
    const auto told = nodes::Transpose(context.node()).perm();
    if (told && !told->empty()) perm = *told;
    std::vector<int> place(std::max<std::size_t>(rank, 1));  // position of x's dimensions in y
    for (std::size_t i = 0; i < rank; ++i) place[std::size_t(perm[i])] = int(i);
    const Argument x = input_as_found(0);
    forward_.reorder(x.as(x.desc.permute_axes(place)), output(0));
    if (context.wants_grad(0)) {
      const Argument dx = grad_input(0);
      backward_.reorder(grad_output(0), dx.as(dx.desc.permute_axes(place)));
    }
    traits_.backward_reads_inputs = {};
  }
};

/// Drops nothing; the ratio is only checked.
class Dropout final : public Relabel {
  using View = nodes::Dropout;
  using Ratios = Join<FloatTypes, Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>>;

 public:
  explicit Dropout(PlanContext& context)
      : Relabel(context), ratio_(context.node().opset < 12 ? View(context.node()).ratio() : 0) {}

  void forward(OpContext& context) override {
    if (context.has_input(View::In::ratio)) {
      const Tensor& told = context.input(View::In::ratio);
      dispatch(Ratios{}, told.dtype(), "Dropout's ratio",
               [&]<class T>() { ratio_ = double(Arithmetic<T>(told.item<T>())); });
    }
    if (!(ratio_ >= 0 && ratio_ < 1)) {
      throw ValueError(
          fmt::format("{}: ratio is {}, expected 0 <= ratio < 1", context.who(), ratio_));
    }
    Relabel::forward(context);
  }

 private:
  double ratio_;
};

Support moves(const PlanContext& context) { return numbers(context, {0}); }

/// Dropout that drops nothing, the only one that oneDNN supports.
Support keeps_all(const PlanContext& context) {
  const Tensor* trains = context.constant(nodes::Dropout::In::training_mode);
  if (context.node().opset < 12 && context.mode() == Mode::training) return {"Dropout that drops"};
  if (context.has_input(2) && (!trains || trains->item<bool>())) return {"Dropout that drops"};
  if (context.wants_output(1)) return {"Dropout's mask"};
  return moves(context);
}

}  // namespace

void register_rearrange(OperatorRegistry& registry) {
  add<Dropout, nodes::Dropout>(registry, keeps_all);
  add<Relabel, nodes::Flatten>(registry, moves);
  add<Relabel, nodes::Identity>(registry, moves);
  add<Relabel, nodes::Reshape>(registry, moves);
  add<Relabel, nodes::Squeeze>(registry, moves);
  add<Relabel, nodes::Unsqueeze>(registry, moves);
  add<Transpose, nodes::Transpose>(registry, moves);
}

}  // namespace d5::onednn
