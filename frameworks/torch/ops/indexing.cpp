// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by position: Slice, Gather, Pad.
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

std::int64_t front(std::int64_t axis, const Shape& shape, const PlanContext& context) {
  return std::int64_t(normalize_axis(axis, shape.rank(), context.who()));
}

/// The elements at `places` along one axis.
struct Selection {
  std::int64_t axis;
  at::Tensor places;
  [[nodiscard]] at::Tensor of(const at::Tensor& x) const {
    return at::index_select(x, axis, places);
  }
};

class Slice final : public TorchKernel {
  using View = nodes::Slice;

 public:
  explicit Slice(const PlanContext& context) : TorchKernel(context) {
    const View view(node());
    const bool attributes = node().opset < 10;
    const Sizes starts = attributes ? view.starts() : context.integers(View::In::starts).values();
    const Sizes ends = attributes ? view.ends() : context.integers(View::In::ends).values();
    const auto axes = context.integers(View::In::axes, view.axes());
    const auto steps = context.integers(View::In::steps);
    const Shape& x = context.shape(0);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t axis =
          front(axes.given() ? axes.values()[i] : std::int64_t(i), x, context);
      add(axis, x[std::size_t(axis)], starts[i], ends[i], steps.given() ? steps.values()[i] : 1);
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor y = inputs[0];
    for (const Range& range : ranges_) y = y.slice(range.axis, range.start, range.end, range.step);
    for (const Selection& selection : backward_) y = selection.of(y);
    results[0] = y;
  }
  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  void add(std::int64_t axis, std::int64_t size, std::int64_t start, std::int64_t end,
           std::int64_t step) {
    if (start < 0) start += size;
    if (end < 0) end += size;
    if (step > 0) {
      start = std::clamp<std::int64_t>(start, 0, size);
      ranges_.push_back({axis, start, std::clamp<std::int64_t>(end, start, size), step});
    } else {
      start = std::clamp<std::int64_t>(start, -1, size - 1);
      end = std::clamp<std::int64_t>(end, -1, start);
      backward_.push_back({axis, at::arange(start, end, step, at::kLong).to(device())});
    }
  }

  struct Range {
    std::int64_t axis, start, end, step;
  };
  std::vector<Range> ranges_;
  std::vector<Selection> backward_;  // torch's slices only go forward
};

class Gather final : public TorchKernel {
 public:
  explicit Gather(const PlanContext& context)
      : TorchKernel(context),
        axis_(front(nodes::Gather(node()).axis(), context.shape(0), context)),
        sizes_(sizes_of(context.output(0).shape).vec()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    const at::Tensor wide = inputs[1].to(at::kLong);
    // Torch's index_select does not support negative indices.
    const at::Tensor indices = at::where(wide < 0, wide + x.size(axis_), wide);
    results[0] = at::index_select(x, axis_, indices.reshape({-1})).view(sizes_);
  }

 private:
  std::int64_t axis_;
  Sizes sizes_;
};

/// Padding that a node Pad adds to its axes: before each, then after each.
struct Padding {
  using View = nodes::Pad;

  explicit Padding(const PlanContext& context) : axes(context.shape(0).rank()) {
    const View view(context.node());
    amounts = context.node().opset >= 11  ? context.integers(View::In::pads).values()
              : context.node().opset >= 2 ? view.pads()
                                          : view.paddings();
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto given = context.integers(View::In::axes); given.given()) axes = given.values();
    for (std::int64_t& axis : axes) axis = front(axis, context.shape(0), context);
  }

  Sizes axes, amounts;
};

class Pad final : public TorchKernel {
  using View = nodes::Pad;

 public:
  explicit Pad(const PlanContext& context) : TorchKernel(context) {
    const View view(node());
    const Shape& x = context.shape(0);
    const auto& [axes, pads] = Padding(context);
    const bool by_value = view.mode() == "constant";
    if (node().opset < 11) value_ = view.value();
    if (by_value) amounts_.assign(2 * x.rank(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t axis = axes[i], before = pads[i], after = pads[i + axes.size()];
      if (by_value) {
        const auto place = 2 * (x.rank() - 1 - std::size_t(axis));  // torch: last dimension first
        amounts_[place] = before;
        amounts_[place + 1] = after;
      } else {
        copies_.push_back(
            {axis, sources(view.mode(), x[std::size_t(axis)], before, after).to(device())});
      }
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor y = inputs[0];
    if (!amounts_.empty()) {
      const bool given =
          inputs.size() > View::In::constant_value && inputs[View::In::constant_value].defined();
      y = at::constant_pad_nd(y, amounts_,
                              given ? inputs[View::In::constant_value].item() : value_);
    }
    for (const Selection& copy : copies_) y = copy.of(y);
    results[0] = y;
  }

 private:
  /// The input element copied to each output element along one axis.
  static at::Tensor sources(const std::string& mode, std::int64_t size, std::int64_t before,
                            std::int64_t after) {
    const at::Tensor place = at::arange(-before, size + after, at::kLong);
    if (mode == "edge") return place.clamp(0, size - 1);
    if (mode == "wrap") return place.remainder(size);
    // reflect: back and forth without repeating the ends
    if (size == 1) return at::zeros_like(place);
    const at::Tensor phase = place.remainder(2 * (size - 1));
    return at::where(phase < size, phase, 2 * (size - 1) - phase);
  }

  Sizes amounts_;
  at::Scalar value_ = 0;
  std::vector<Selection> copies_;
};

/// Torch crops one end before it pads the other, so something must be left.
Support pads(const PlanContext& context) {
  const Padding padding(context);
  for (std::size_t i = 0; i < padding.axes.size(); ++i) {
    const std::int64_t size = context.shape(0)[std::size_t(padding.axes[i])];
    for (const std::int64_t amount :
         {padding.amounts[i], padding.amounts[i + padding.axes.size()]}) {
      if (amount < -size) return {"Pad that cuts off more than there is"};
    }
  }
  return stores(context);
}

}  // namespace

void register_indexing(OperatorRegistry& registry) {
  add<Slice, nodes::Slice>(registry, stores);
  add<Gather, nodes::Gather>(registry, stores);
  add<Pad, nodes::Pad>(registry, pads);
}

}  // namespace d5::torch
