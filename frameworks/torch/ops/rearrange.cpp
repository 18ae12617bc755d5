// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: Transpose, Concat, Split, Slice, Gather, Pad, Expand, Tile, Where.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cstdlib>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;
using Sizes = std::vector<std::int64_t>;

std::int64_t front(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }

class Transpose final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    return {inputs[0].permute(order(inputs[0].dim()))};
  }
  bool backward_needs_input(std::size_t) const override { return false; }

 protected:
  void run(OpContext& context) override {
    const at::Tensor& x = in(context, 0);
    out(context, 0).copy_(x.permute(order(x.dim())));
  }
  void differentiate(GradContext& context) override {
    at::Tensor& dx = grad_in(context, 0);
    dx.permute(order(dx.dim())).copy_(grad_out(context, 0));
  }

 private:
  Sizes order(std::int64_t rank) const {
    if (auto given = nodes::Transpose(node()).perm()) return *given;
    Sizes reversed(static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < reversed.size(); ++i) reversed[i] = rank - 1 - std::int64_t(i);
    return reversed;
  }
};

class Concat final : public TorchOperator {
 public:
  explicit Concat(const onnx::Node& node)
      : TorchOperator(node), axis_(nodes::Concat(this->node()).axis().value_or(1)) {}

  void plan(PlanContext& context) override {
    const std::size_t axis = std::size_t(front(axis_, std::int64_t(context.shape(0).rank())));
    sizes_.clear();
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      sizes_.push_back(context.shape(i)[axis]);
    }
  }

  Results call(Inputs inputs, const Call&) const override {
    return {at::cat(at::TensorList(inputs.data(), inputs.size()), axis_)};
  }
  bool backward_needs_input(std::size_t) const override { return false; }

 protected:
  void run(OpContext& context) override {
    inputs_.resize(context.input_count());
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = in(context, i);
    at::cat_out(out(context, 0), inputs_, axis_);
  }
  void differentiate(GradContext& context) override {
    const at::Tensor& dy = grad_out(context, 0);
    const std::int64_t axis = front(axis_, dy.dim());
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (context.wants_grad(i)) grad_in(context, i).copy_(dy.narrow(axis, begin, sizes_[i]));
      begin += sizes_[i];
    }
  }

 private:
  std::int64_t axis_;
  Sizes sizes_;  // along the axis
  std::vector<at::Tensor> inputs_;
};

class Split final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const nodes::Split view(node());
    const at::Tensor& x = inputs[0];
    const std::int64_t axis = front(view.axis().value_or(0), x.dim());
    Results parts;
    std::int64_t begin = 0;
    for (const std::int64_t size : sizes(inputs, x.size(axis))) {
      parts.push_back(x.narrow(axis, begin, size));
      begin += size;
    }
    return parts;
  }

 private:
  Sizes sizes(Inputs inputs, std::int64_t whole) const {
    const nodes::Split view(node());
    if (inputs.size() > 1 && inputs[1].defined()) return integers(inputs[1]);
    if (auto given = view.split()) return *given;
    // Equal parts, a smaller last one.
    const auto count = std::int64_t(node().outputs.size());
    const std::int64_t part = (whole + count - 1) / count;
    Sizes result(node().outputs.size(), part);
    result.back() = whole - part * (count - 1);
    return result;
  }
};

class Slice final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const nodes::Slice view(node());
    const auto list = [&](std::size_t i) -> std::optional<Sizes> {
      if (inputs.size() > i && inputs[i].defined()) return integers(inputs[i]);
      return {};
    };
    const bool attributes = node().opset < 10;
    const Sizes starts = attributes ? view.starts() : list(1).value();
    const Sizes ends = attributes ? view.ends() : list(2).value();
    const auto axes = attributes ? view.axes() : list(3);
    const auto steps = list(4);
    at::Tensor y = inputs[0];
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t axis = front(axes ? (*axes)[i] : std::int64_t(i), y.dim());
      y = slice(y, axis, starts[i], ends[i], steps ? (*steps)[i] : 1);
    }
    return {y};
  }

 private:
  static at::Tensor slice(const at::Tensor& x, std::int64_t axis, std::int64_t start,
                          std::int64_t end, std::int64_t step) {
    const std::int64_t size = x.size(axis);
    if (start < 0) start += size;
    if (end < 0) end += size;
    if (step > 0) {
      start = std::clamp<std::int64_t>(start, 0, size);
      end = std::clamp<std::int64_t>(end, start, size);
      return x.slice(axis, start, end, step);
    }
    // Torch's slices only go forward.
    start = std::clamp<std::int64_t>(start, -1, size - 1);
    end = std::clamp<std::int64_t>(end, -1, start);
    return at::index_select(x, axis, at::arange(start, end, step, at::kLong));
  }
};

class Gather final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor& x = inputs[0];
    const std::int64_t axis = front(nodes::Gather(node()).axis(), x.dim());
    const at::Tensor wide = inputs[1].to(at::kLong);
    // Torch's index_select does not count from the back.
    const at::Tensor indices = at::where(wide < 0, wide + x.size(axis), wide);
    Sizes shape = x.sizes().vec();
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, indices.sizes().begin(), indices.sizes().end());
    return {at::index_select(x, axis, indices.reshape({-1})).view(shape)};
  }
};

class Pad final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const nodes::Pad view(node());
    at::Tensor y = inputs[0];
    const std::size_t rank = std::size_t(y.dim());
    Sizes axes(rank);
    for (std::size_t i = 0; i < rank; ++i) axes[i] = std::int64_t(i);
    if (inputs.size() > 3 && inputs[3].defined()) axes = integers(inputs[3]);
    const Sizes pads = node().opset >= 11  ? integers(inputs[1])
                       : node().opset >= 2 ? view.pads()
                                           : view.paddings();
    if (view.mode() == "constant") {
      at::Scalar value = 0;
      if (node().opset < 11) {
        value = view.value();
      } else if (inputs.size() > 2 && inputs[2].defined()) {
        value = inputs[2].item();
      }
      Sizes amounts(2 * rank, 0);  // torch: last dimension first
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto place = 2 * (rank - 1 - std::size_t(front(axes[i], y.dim())));
        amounts[place] = pads[i];
        amounts[place + 1] = pads[i + axes.size()];
      }
      return {at::constant_pad_nd(y, amounts, value)};
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t axis = front(axes[i], y.dim());
      y = at::index_select(y, axis,
                           sources(view.mode(), y.size(axis), pads[i], pads[i + axes.size()]));
    }
    return {y};
  }

 private:
  /// For each output element along one axis, the input element that it repeats.
  static at::Tensor sources(const std::string& mode, std::int64_t size, std::int64_t before,
                            std::int64_t after) {
    const at::Tensor place = at::arange(-before, size + after, at::kLong);
    if (mode == "edge") return place.clamp(0, size - 1);
    if (mode == "wrap") return place.remainder(size);
    // reflect: forth and back without repeating the ends
    if (size == 1) return at::zeros_like(place);
    const at::Tensor phase = place.remainder(2 * (size - 1));
    return at::where(phase < size, phase, 2 * (size - 1) - phase);
  }
};

class Expand final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    // Both are broadcast: a 1 in `shape` keeps the input's size.
    Sizes shape = integers(inputs[1]);
    const at::Tensor& x = inputs[0];
    if (std::int64_t(shape.size()) < x.dim()) {
      shape.insert(shape.begin(), std::size_t(x.dim()) - shape.size(), 1);
    }
    for (std::int64_t i = 1; i <= x.dim(); ++i) {
      auto& size = shape[shape.size() - std::size_t(i)];
      if (size == 1) size = x.size(-i);
    }
    return {x.expand(shape)};
  }
};

class Tile final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;
  Results call(Inputs inputs, const Call&) const override {
    return {inputs[0].repeat(integers(inputs[1]))};
  }
};

class Where final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;
  Results call(Inputs inputs, const Call&) const override {
    return {at::where(inputs[0], inputs[1], inputs[2])};
  }
};

Support repeats_as_input(const onnx::Node& node) {
  return {node.opset >= 6 ? "" : "Tile with an axis (opset < 6)"};
}

}  // namespace

void register_rearrange(OperatorRegistry& registry) {
  add<Transpose>(registry, "Transpose");
  add<Concat>(registry, "Concat");
  add<Split>(registry, "Split");
  add<Slice>(registry, "Slice");
  add<Gather>(registry, "Gather");
  add<Pad>(registry, "Pad");
  add<Expand>(registry, "Expand");
  add<Tile>(registry, "Tile", repeats_as_input);
  add<Where>(registry, "Where");
}

}  // namespace d5::torch
