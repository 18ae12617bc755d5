// SPDX-License-Identifier: Apache-2.0
// Transposed convolution: the gradient of Conv by its input.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level0_ops/kernels/window/columns.hpp"
#include "level0_ops/kernels/window/convolution.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

using detail::matrix_product;
using detail::MatrixView;

/// A plane is one group of one sample.
template <class T>
class ConvTransposeKernel final : public Kernel {
 public:
  ConvTransposeKernel(const detail::ConvolutionSizes& sizes, PlanContext& context)
      : s_(sizes),
        chunks_(planes(), double(planes()) * double(weights()) * double(positions())),
        columns_size_(Shape{depth(), positions()}.elements()) {
    context.request_scratch(std::size_t(chunks_.count() * columns_size_) * sizeof(T));
  }

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    const T* w = context.input(1).data<T>();
    const T* b = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* y = context.output(0).data<T>();
    T* scratch = context.scratch_as<T>();
    chunks_.for_each(planes(), [&](std::int64_t chunk, std::int64_t plane) {
      const std::int64_t g = plane % s_.group;
      T* columns = scratch + chunk * columns_size_;
      matrix_product<T>({w + g * weights(), depth(), s_.channels, depth(), true},
                        input_view(x, plane), {columns, depth(), positions(), positions()});
      T* to = y + plane * s_.filters * area();
      for (std::int64_t m = 0; m < s_.filters; ++m) {
        std::fill_n(to + m * area(), area(), b ? b[g * s_.filters + m] : T(0));
      }
      detail::scatter_columns(s_.window, s_.filters, all_rows(), columns, to);
    });
  }

  void backward(GradContext& context) override {
    const T* dy = context.grad_output(0).data<T>();
    T* scratch = context.scratch_as<T>();
    const auto gather = [&](std::int64_t plane, T* columns) {
      detail::gather_columns(s_.window, s_.filters, all_rows(), dy + plane * s_.filters * area(),
                             columns);
    };
    if (context.wants_grad(0)) {
      const T* w = context.input(1).data<T>();
      T* dx = context.grad_input(0).data<T>();
      chunks_.for_each(planes(), [&](std::int64_t chunk, std::int64_t plane) {
        T* columns = scratch + chunk * columns_size_;
        gather(plane, columns);
        matrix_product<T>({w + plane % s_.group * weights(), s_.channels, depth(), depth()},
                          {columns, depth(), positions(), positions()}, input_view(dx, plane));
      });
    }
    if (context.wants_grad(1)) {
      const T* x = context.input(0).data<T>();
      T* dw = context.grad_input(1).data<T>();
      std::fill_n(dw, s_.group * weights(), T(0));
      // Sequential, so that the order of the sum is fixed.
      for (std::int64_t plane = 0; plane < planes(); ++plane) {
        gather(plane, scratch);
        matrix_product<T>(input_view(x, plane), {scratch, positions(), depth(), positions(), true},
                          {dw + plane % s_.group * weights(), s_.channels, depth(), depth()}, T(1),
                          T(1));
      }
    }
    if (context.wants_grad(2)) {
      detail::bias_gradient(s_.batch, s_.group * s_.filters, area(), dy,
                            context.grad_input(2).data<T>());
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t planes() const { return s_.batch * s_.group; }
  std::int64_t area() const { return s_.window.input_size(); }
  std::int64_t positions() const { return s_.window.output_size(); }
  std::int64_t depth() const { return s_.filters * s_.window.kernel_size(); }
  std::int64_t weights() const { return s_.channels * depth(); }
  detail::OutputRows all_rows() const {
    return {0, s_.window.axes[0].output * s_.window.axes[1].output};
  }
  template <class U>
  MatrixView<U> input_view(U* x, std::int64_t plane) const {
    return {x + plane * s_.channels * positions(), s_.channels, positions(), positions()};
  }

  detail::ConvolutionSizes s_;
  detail::Chunks chunks_;
  std::int64_t columns_size_;  // size per chunk
};

/// Shapes: x is N x C x spatial (one to three), w is C x M/group x kernel, b is M; y is N x M x
/// output, where output = stride (input - 1) + output_padding + dilation (kernel - 1) + 1 - pads.
/// The window of the convolution slides over y and has one position per element of x.
class ConvTranspose final : public detail::Convolution {
 public:
  explicit ConvTranspose(const onnx::nodes::ConvTranspose& view) : Convolution(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto s = sizes(context);
    Shape y{s.batch, s.filters * group_};
    for (std::size_t i = 3 - s.window.rank; i < 3; ++i) y.push_back(s.window.axes[i].input);
    return {TensorDesc{context.dtype(0), y}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<ConvTransposeKernel<T>>(sizes(wide), wide);
    });
  }

 private:
  detail::ConvolutionSizes sizes(const InferContext& context) const override {
    const Shape &x = context.shape(0), &w = context.shape(1);
    const Shape filters = w.rank() > 1 ? Shape{w[1], group_} : Shape{0};
    check_inputs(context,
                 filters.elements());  // number of filters of all groups; throws on overflow
    if (x[1] != w[0] || x[1] % group_ != 0) {
      throw ShapeError(
          fmt::format("{}: X is {}, W is {} and group is {}; X's channels must be W's "
                      "first size, and divide into groups",
                      context.who(), to_string(x), to_string(w), group_));
    }
    return {.batch = x[0],
            .group = group_,
            .channels = x[1] / group_,
            .filters = w[1],
            .window = attributes_.resolve_transposed(
                x, detail::kernel_of(w, attributes_, context.who()), context.who())};
  }
};

}  // namespace

void register_conv_transpose(OperatorRegistry& registry) {
  registry.add<ConvTranspose, onnx::nodes::ConvTranspose>();
}

}  // namespace d5::ops
