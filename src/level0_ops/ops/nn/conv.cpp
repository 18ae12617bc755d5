// SPDX-License-Identifier: Apache-2.0
// Convolution: y[n, m] = b[m] + sum over c of w[m, c] * x[n, c].
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/window/column_convolution.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

template <class T>
class ConvKernel final : public Kernel {
 public:
  ConvKernel(const detail::ConvolutionSizes& sizes, PlanContext& context)
      : batch_(sizes.batch), convolution_(sizes, context.wants_grad(0)) {
    std::int64_t scratch = convolution_.scratch_length();
    if (context.wants_grad(1)) scratch += convolution_.weight_scratch_length();
    context.request_scratch(sizeof(T) * std::size_t(scratch));
  }

  void forward(OpContext& context) override {
    convolution_.forward(context.input(0).data<T>(), context.input(1).data<T>(),
                         context.has_input(2) ? context.input(2).data<T>() : nullptr,
                         context.output(0).data<T>(), context.scratch_as<T>());
  }

  void backward(GradContext& context) override {
    const T* dy = context.grad_output(0).data<T>();
    T* scratch = context.scratch_as<T>();
    if (context.wants_grad(0)) {
      convolution_.input_gradient(context.input(1).data<T>(), dy, context.grad_input(0).data<T>(),
                                  scratch);
    }
    if (context.wants_grad(1)) {
      convolution_.weight_gradient(context.input(0).data<T>(), dy, context.grad_input(1).data<T>(),
                                   scratch);
    }
    if (context.wants_grad(2)) {
      detail::bias_gradient(batch_, convolution_.filters(), convolution_.area(), dy,
                            context.grad_input(2).data<T>());
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t batch_;
  detail::ColumnConvolution<T> convolution_;
};

/// Shapes: x is N x C x spatial (one to three), w is M x C/group x kernel, b is M;
/// y is N x M x output.
class Conv final : public detail::Convolution {
 public:
  explicit Conv(const onnx::nodes::Conv& view) : Convolution(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto s = sizes(context);
    return {TensorDesc{context.dtype(0), s.window.output_shape(s.batch, s.filters * group_)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<ConvKernel<T>>(sizes(wide), wide);
    });
  }

 private:
  detail::ConvolutionSizes sizes(const InferContext& context) const override {
    const Shape& w = context.shape(1);
    check_inputs(context, w.rank() > 0 ? w[0] : 0);
    return detail::convolution_sizes(context.shape(0), w, attributes_, group_, context.who());
  }
};

}  // namespace

void register_conv(OperatorRegistry& registry) { registry.add<Conv, onnx::nodes::Conv>(); }

}  // namespace d5::ops
