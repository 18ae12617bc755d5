// SPDX-License-Identifier: Apache-2.0
// Pooling, 1 to 3 spatial dimensions; one is run as two with a height of 1.
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool2d_backward.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/avg_pool3d_backward.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/max.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices_backward.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "ops/window.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// A window over one dimension as one over two.
Window lifted(Window w) {
  if (w.kernel.size() != 1) return w;
  for (auto* list : {&w.kernel, &w.strides, &w.dilations}) list->insert(list->begin(), 1);
  for (auto* list : {&w.begin, &w.end}) list->insert(list->begin(), 0);
  return w;
}
at::Tensor lifted(const at::Tensor& x) { return x.dim() == 3 ? x.unsqueeze(2) : x; }

/// Smaller than every element, so that padding never wins.
at::Scalar lowest(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return 0;
    case at::kChar:
      return std::numeric_limits<std::int8_t>::lowest();
    case at::kLong:
      return std::numeric_limits<std::int64_t>::lowest();
    case at::kInt:
      return std::numeric_limits<std::int32_t>::lowest();
    default:
      return -std::numeric_limits<double>::infinity();
  }
}

/// Shapes: x N,C,spatial; y and Indices N,C,outputs.
class MaxPool final : public TorchOperator {
  using View = onnx::nodes::MaxPool;

 public:
  explicit MaxPool(const onnx::Node& node) : TorchOperator(node) {}

  void plan(PlanContext& context) override {
    window_ = window(sizes_of(context.shape(0)));
    direct_ = window_->torch_pads() && context.shape(0).rank() > 3;
    if (context.mode() == Mode::inference) return;
    context.save({DType::int64, context.output(0).shape});
  }

  Results call(Inputs inputs, const Call&) const override {
    const auto make = [&] { return window(inputs[0].sizes()); };
    const Window& w = last_window_.of(inputs[0].sizes(), {}, make);
    at::Tensor x = lifted(inputs[0]);
    const at::Tensor padded = w.torch_pads() ? x : w.pad(x, lowest(x.scalar_type()));
    const Window unpadded = w.torch_pads() ? Window() : w.without_padding();
    const Window& rest = w.torch_pads() ? w : unpadded;
    auto [y, indices] =
        w.kernel.size() == 3
            ? at::max_pool3d_with_indices(padded, rest.kernel, rest.strides, rest.begin,
                                          rest.dilations, rest.ceil_mode)
            : at::max_pool2d_with_indices(padded, rest.kernel, rest.strides, rest.begin,
                                          rest.dilations, rest.ceil_mode);
    Results results;
    if (node().has_output(View::Out::Indices)) {
      results.push_back(whole_tensor_indices(indices, x, padded, w));
    }
    if (inputs[0].dim() == 3) y = y.squeeze(2);
    if (!results.empty() && inputs[0].dim() == 3) results[0] = results[0].squeeze(2);
    results.insert(results.begin(), y);
    return results;
  }

  bool backward_needs_input(std::size_t) const override { return true; }

 protected:
  void run(OpContext& context) override {
    if (!direct_ || context.wants_output(View::Out::Indices)) {
      have_indices_ = false;
      return TorchOperator::run(context);
    }
    have_indices_ = context.mode() == Mode::training;
    if (!have_indices_ && !scratch_indices_.defined()) {
      scratch_indices_ = at::empty_like(out(context, 0), at::kLong);
    }
    at::Tensor& indices = have_indices_ ? saved(context, 0) : scratch_indices_;
    const Window& w = *window_;
    if (w.kernel.size() == 3) {
      at::max_pool3d_with_indices_out(out(context, 0), indices, in(context, 0), w.kernel, w.strides,
                                      w.begin, w.dilations, w.ceil_mode);
    } else {
      at::max_pool2d_with_indices_out(out(context, 0), indices, in(context, 0), w.kernel, w.strides,
                                      w.begin, w.dilations, w.ceil_mode);
    }
  }

  void differentiate(GradContext& context) override {
    if (!have_indices_) return TorchOperator::differentiate(context);
    const Window& w = *window_;
    const auto gradient = w.kernel.size() == 3 ? &at::max_pool3d_with_indices_backward_out
                                               : &at::max_pool2d_with_indices_backward_out;
    gradient(grad_in(context, 0), grad_out(context, 0), in(context, 0), w.kernel, w.strides,
             w.begin, w.dilations, w.ceil_mode, saved(context, 0));
  }

 private:
  Window window(at::IntArrayRef sizes) const {
    const View view(node());
    return lifted(Window::of(view, view.kernel_shape(), sizes));
  }

  /// Torch counts within one padded channel; ONNX within the whole tensor, without padding.
  at::Tensor whole_tensor_indices(at::Tensor index, const at::Tensor& x, const at::Tensor& padded,
                                  const Window& w) const {
    const bool column_major = View(node()).storage_order() == 1;
    const std::int64_t rank = x.dim();
    at::Tensor result = at::zeros_like(index);
    std::int64_t stride = 1;
    std::vector<std::int64_t> strides(std::size_t(rank), 1);
    for (std::int64_t i = rank - 1; i >= 2; --i) {
      strides[std::size_t(i)] = stride;
      stride *= x.size(i);
    }
    if (column_major) {
      stride = 1;
      for (std::int64_t i = 2; i < rank; ++i) {
        strides[std::size_t(i)] = stride;
        stride *= x.size(i);
      }
    }
    const bool was_padded = !padded.is_same(x);
    for (std::int64_t i = rank - 1; i >= 2; --i) {
      const std::int64_t before = was_padded ? w.begin[std::size_t(i - 2)] : 0;
      result += (at::remainder(index, padded.size(i)) - before) * strides[std::size_t(i)];
      index = at::div(index, padded.size(i), "floor");
    }
    const at::Tensor channels =
        at::arange(x.size(0) * x.size(1), index.options()).view({x.size(0), x.size(1)});
    std::vector<std::int64_t> shape(std::size_t(rank), 1);
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    return result + channels.view(shape) * stride;
  }

  std::optional<Window> window_;
  WindowMemory last_window_;
  bool direct_ = false, have_indices_ = false;
  at::Tensor scratch_indices_;
};

/// Shapes: x N,C,spatial; y N,C,outputs.
class AveragePool final : public TorchOperator {
  using View = onnx::nodes::AveragePool;

 public:
  explicit AveragePool(const onnx::Node& node)
      : TorchOperator(node), count_padding_(View(this->node()).count_include_pad() != 0) {}

  void plan(PlanContext& context) override {
    window_ = window(sizes_of(context.shape(0)));
    direct_ = is_direct(*window_) && context.shape(0).rank() > 3;
  }

  Results call(Inputs inputs, const Call&) const override {
    const auto make = [&] { return window(inputs[0].sizes()); };
    const Window& w = last_window_.of(inputs[0].sizes(), {}, make);
    at::Tensor x = lifted(inputs[0]);
    at::Tensor y;
    if (!is_direct(w)) {
      y = by_convolution(x, w);
    } else if (w.kernel.size() == 3) {
      y = at::avg_pool3d(x, w.kernel, w.strides, w.begin, w.ceil_mode, count_padding_);
    } else {
      y = at::avg_pool2d(x, w.kernel, w.strides, w.begin, w.ceil_mode, count_padding_);
    }
    return {inputs[0].dim() == 3 ? y.squeeze(2) : y};
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_) return TorchOperator::run(context);
    const Window& w = *window_;
    const auto pool = [&](auto write) {
      write(out(context, 0), in(context, 0), w.kernel, w.strides, w.begin, w.ceil_mode,
            count_padding_, std::nullopt);
    };
    w.kernel.size() == 3 ? pool(at::avg_pool3d_out) : pool(at::avg_pool2d_out);
  }

  void differentiate(GradContext& context) override {
    if (!direct_) return TorchOperator::differentiate(context);
    const Window& w = *window_;
    const auto gradient =
        w.kernel.size() == 3 ? &at::avg_pool3d_backward_out : &at::avg_pool2d_backward_out;
    gradient(grad_in(context, 0), grad_out(context, 0), in(context, 0), w.kernel, w.strides,
             w.begin, w.ceil_mode, count_padding_, std::nullopt);
  }

 private:
  Window window(at::IntArrayRef sizes) const {
    const View view(node());
    return lifted(Window::of(view, view.kernel_shape(), sizes));
  }
  static bool is_direct(const Window& w) { return w.torch_pads() && !w.dilated(); }

  /// What torch's pooling cannot do: sums of windows, divided by how many elements count in each.
  at::Tensor by_convolution(const at::Tensor& x, const Window& w) const {
    std::vector<std::int64_t> ones_shape = {1, 1}, mask_shape = {1, 1};
    ones_shape.insert(ones_shape.end(), w.kernel.begin(), w.kernel.end());
    mask_shape.insert(mask_shape.end(), x.sizes().begin() + 2, x.sizes().end());
    const at::Tensor ones = at::ones(ones_shape, x.options());
    at::Tensor mask = at::ones(mask_shape, x.options());
    const at::Tensor padded = w.pad(x, 0);
    mask = w.pad(mask, 0);
    if (count_padding_) {
      // All that was declared as padding counts, what the last window reads beyond does not.
      mask.fill_(1);
      for (std::int64_t i = 2; i < x.dim(); ++i) {
        const std::int64_t declared =
            x.size(i) + w.begin[std::size_t(i - 2)] + w.end[std::size_t(i - 2)];
        if (declared < mask.size(i)) mask.narrow(i, declared, mask.size(i) - declared).zero_();
      }
    }
    const std::vector<std::int64_t> none(w.kernel.size(), 0);
    const auto sums = [&](const at::Tensor& values) {
      return at::convolution(values, ones, {}, w.strides, none, w.dilations, false, none, 1);
    };
    std::vector<std::int64_t> flat = padded.sizes().vec();
    flat[0] *= flat[1];
    flat[1] = 1;
    const at::Tensor y = sums(padded.reshape(flat)) / sums(mask);
    std::vector<std::int64_t> shape = y.sizes().vec();
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    return y.reshape(shape);
  }

  bool count_padding_;
  std::optional<Window> window_;
  WindowMemory last_window_;
  bool direct_ = false;
};

std::vector<std::int64_t> spatial_dims(std::int64_t rank) {
  std::vector<std::int64_t> dims(std::size_t(rank - 2));
  std::iota(dims.begin(), dims.end(), 2);
  return dims;
}

class GlobalAveragePool final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    return {at::mean(inputs[0], spatial_dims(inputs[0].dim()), /*keepdim=*/true)};
  }
  // Its values are not read, its shape is the gradient's.
  bool backward_needs_input(std::size_t) const override { return false; }

 protected:
  void run(OpContext& context) override {
    const at::Tensor& x = in(context, 0);
    at::mean_out(out(context, 0), x, spatial_dims(x.dim()), /*keepdim=*/true);
  }
  void differentiate(GradContext& context) override {
    at::Tensor& dx = grad_in(context, 0);
    const at::Tensor& dy = grad_out(context, 0);
    at::div_out(dx, dy.expand(dx.sizes()),
                at::scalar_tensor(dx.numel() / dy.numel(), dx.options()));
  }
};

class GlobalMaxPool final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor& x = inputs[0];
    std::vector<std::int64_t> shape(std::size_t(x.dim()), 1);
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    return {std::get<0>(at::max(x.reshape({x.size(0), x.size(1), -1}), 2)).view(shape)};
  }
};

}  // namespace

void register_pooling(OperatorRegistry& registry) {
  add<MaxPool>(registry, "MaxPool");
  add<AveragePool>(registry, "AveragePool");
  add<GlobalAveragePool>(registry, "GlobalAveragePool");
  add<GlobalMaxPool>(registry, "GlobalMaxPool");
}

}  // namespace d5::torch
