// SPDX-License-Identifier: Apache-2.0
// Operators that rearrange elements: DepthToSpace, SpaceToDepth, CenterCropPad, ReverseSequence.
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/where.h>

#include <string>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

template <class View>
class BlockMove final : public TorchKernel {
 public:
  explicit BlockMove(const PlanContext& context)
      : TorchKernel(context), sizes_(sizes_of(context.output(0).shape).vec()) {
    const std::int64_t b = View(node()).blocksize();
    const bool channel_first = View(node()).mode() == "CRD";
    const Shape &x = context.shape(0), &y = context.output(0).shape;
    if constexpr (std::is_same_v<View, nodes::DepthToSpace>) {
      const std::int64_t n = x[0], c = y[1], h = x[2], w = x[3];
      blocks_ = channel_first ? Sizes{n, c, b, b, h, w} : Sizes{n, b, b, c, h, w};
      order_ = channel_first ? Sizes{0, 1, 4, 2, 5, 3} : Sizes{0, 3, 4, 1, 5, 2};
    } else {
      blocks_ = {x[0], x[1], y[2], b, y[3], b};
      order_ = channel_first ? Sizes{0, 1, 3, 5, 2, 4} : Sizes{0, 3, 5, 1, 2, 4};
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = inputs[0].reshape(blocks_).permute(order_).reshape(sizes_);
  }

 private:
  Sizes blocks_, order_, sizes_;
};

class CenterCropPad final : public TorchKernel {
 public:
  explicit CenterCropPad(const PlanContext& context) : TorchKernel(context) {
    const Shape &x = context.shape(0), &y = context.output(0).shape;
    for (std::size_t d = x.rank(); d-- > 0;) {  // torch: last dimension first
      const std::int64_t more = y[d] - x[d], before = more / 2;
      amounts_.insert(amounts_.end(), {before, more - before});
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::constant_pad_nd(inputs[0], amounts_, 0);
  }

 private:
  Sizes amounts_;  // below zero where it crops
};

class ReverseSequence final : public TorchKernel {
  using View = nodes::ReverseSequence;

 public:
  explicit ReverseSequence(const PlanContext& context)
      : TorchKernel(context), time_(View(node()).time_axis()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[View::In::input];
    const at::Tensor lengths = inputs[View::In::sequence_lens].unsqueeze(time_);
    if (((lengths < 0) | (lengths > x.size(time_))).any().item<bool>()) {
      throw ValueError(onnx::describe(node()) + ": a sequence's length is outside [0, " +
                       std::to_string(x.size(time_)) + "]");
    }
    const at::Tensor steps = at::arange(x.size(time_), of_type(at::kLong)).unsqueeze(1 - time_);
    at::DimVector sizes(std::size_t(x.dim()), 1);
    sizes[0] = x.size(0);
    sizes[1] = x.size(1);
    const at::Tensor places = at::where(steps < lengths, lengths - 1 - steps, steps);
    results[0] = at::gather(x, time_, places.reshape(sizes).expand(x.sizes()));
  }

 private:
  std::int64_t time_;
};

}  // namespace

void register_layout(OperatorRegistry& registry) {
  add<BlockMove<nodes::DepthToSpace>, nodes::DepthToSpace>(registry, stores);
  add<BlockMove<nodes::SpaceToDepth>, nodes::SpaceToDepth>(registry, stores);
  add<CenterCropPad, nodes::CenterCropPad>(registry, stores);
  add<ReverseSequence, nodes::ReverseSequence>(registry, stores);
}

}  // namespace d5::torch
