// SPDX-License-Identifier: Apache-2.0
// DeformConv: a convolution with an offset and a mask weight for each tap.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/sampling/sampling.hpp"
#include "level0_ops/kernels/window/column_convolution.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

using DeformConvView = onnx::nodes::DeformConv;

/// Columns of the input at the moved taps.
template <class A>
class DeformedColumns {
 public:
  DeformedColumns(const detail::ConvolutionSizes& sizes, std::int64_t offset_groups)
      : s_(sizes),
        offset_groups_(offset_groups),
        channels_together_(sizes.group * sizes.channels / offset_groups),
        sizes_{s_.window.axes[0].input, s_.window.axes[1].input, s_.window.axes[2].input} {}

  /// `mask` may be null.
  auto gather_from(const A* x, const A* offset, const A* mask) const {
    return [=, this](std::int64_t plane, detail::OutputRows tile, A* columns) {
      for_each_tap(offset, plane, tile, [&](const Tap& tap) {
        const A weight = mask ? mask[tap.mask] : A(1);
        for (std::int64_t c = 0; c < tap.channels; ++c) {
          columns[tap.column + c * column_step(tile)] =
              weight * value(tap, x + tap.input + c * s_.window.input_size());
        }
      });
      const std::int64_t rows = s_.channels * s_.window.kernel_size();
      return detail::MatrixView<const A>{columns, rows, positions(tile), positions(tile)};
    };
  }

  /// Memory of the gradients; null: not wanted.
  struct Gradients {
    A *x, *offset, *mask;
  };
  auto scatter_to(const Gradients& gradients, const A* x, const A* offset, const A* mask) const {
    return [=, this](std::int64_t plane, detail::OutputRows tile, const A* columns) {
      for_each_tap(offset, plane, tile, [&](const Tap& tap) {
        const A weight = mask ? mask[tap.mask] : A(1);
        for (std::int64_t c = 0; c < tap.channels; ++c) {
          const std::int64_t input = tap.input + c * s_.window.input_size();
          const A gradient = columns[tap.column + c * column_step(tile)];
          if (gradients.mask) gradients.mask[tap.mask] += gradient * value(tap, x + input);
          for (std::size_t t = 0; t < tap.point.count; ++t) {
            const auto& [i, share, slope] = tap.point.taps[t];
            if (gradients.x) gradients.x[input + i] += gradient * weight * share;
            for (std::size_t d = 0; gradients.offset && d < rank(); ++d) {
              gradients.offset[tap.offset + std::int64_t(d) * s_.window.output_size()] +=
                  gradient * weight * slope[3 - rank() + d] * x[input + i];
            }
          }
        }
      });
    };
  }

 private:
  /// A tap at a position, for the channels of a plane that share its offset.
  struct Tap {
    std::int64_t mask;      // index in the mask
    std::int64_t offset;    // index in the offsets, for the first dimension
    std::int64_t channels;  // number of channels
    std::int64_t input;     // begin of the first channel in the input
    std::int64_t column;    // index in the columns
    detail::PointSample<A> point;
  };

  /// Calls `f(tap)` for every tap; a plane is one group of one sample.
  template <class F>
  void for_each_tap(const A* offset, std::int64_t plane, detail::OutputRows tile,
                    const F& f) const {
    const auto& [depth, height, width] = s_.window.axes;
    const std::int64_t n = plane / s_.group, area = s_.window.output_size();
    const std::int64_t begin = plane % s_.group * s_.channels, end = begin + s_.channels;
    Tap tap;
    for (std::int64_t first = begin; first < end; first += tap.channels) {
      const std::int64_t g = first / channels_together_;
      tap.channels = std::min(end, (g + 1) * channels_together_) - first;
      tap.input = (n * s_.group * s_.channels + first) * s_.window.input_size();
      for (std::int64_t k = 0; k < s_.window.kernel_size(); ++k) {
        const std::int64_t z = k / (height.kernel * width.kernel);
        const std::int64_t y = k / width.kernel % height.kernel, x = k % width.kernel;
        const std::int64_t row = (n * offset_groups_ + g) * s_.window.kernel_size() + k;
        tap.column = ((first - begin) * s_.window.kernel_size() + k) * positions(tile);
        for (std::int64_t r = tile.begin; r < tile.end; ++r) {
          for (std::int64_t o = 0; o < width.output; ++o, ++tap.column) {
            tap.mask = row * area + r * width.output + o;
            tap.offset = row * std::int64_t(rank()) * area + r * width.output + o;
            move({A(depth.at(r / height.output, z)), A(height.at(r % height.output, y)),
                  A(width.at(o, x))},
                 offset + tap.offset, tap.point);
            f(tap);
          }
        }
      }
    }
  }

  /// Samples at `place` plus the offset, whose dimensions are in separate planes.
  void move(const std::array<A, 3>& place, const A* offset, detail::PointSample<A>& point) const {
    std::array<detail::AxisSample<A>, 3> samples;
    for (std::size_t d = 0; d < rank(); ++d) {
      const std::size_t axis = 3 - rank() + d;
      samples[axis] = detail::linear_sample(
          place[axis] + offset[std::int64_t(d) * s_.window.output_size()], sizes_[axis]);
    }
    point.set(samples, sizes_);
  }

  /// `x` is the tap's channel.
  static A value(const Tap& tap, const A* x) {
    A sum = 0;
    for (std::size_t t = 0; t < tap.point.count; ++t) {
      sum += tap.point.taps[t].weight * x[tap.point.taps[t].offset];
    }
    return sum;
  }

  std::size_t rank() const { return s_.window.rank; }
  std::int64_t positions(detail::OutputRows tile) const {
    return (tile.end - tile.begin) * s_.window.axes[2].output;
  }
  /// Stride between channels.
  std::int64_t column_step(detail::OutputRows tile) const {
    return s_.window.kernel_size() * positions(tile);
  }

  detail::ConvolutionSizes s_;
  std::int64_t offset_groups_, channels_together_;
  std::array<std::int64_t, 3> sizes_;
};

template <class T>
class DeformConvKernel final : public Kernel {
 public:
  DeformConvKernel(const detail::ConvolutionSizes& sizes, std::int64_t offset_groups,
                   PlanContext& context)
      : sizes_(sizes), columns_(sizes, offset_groups), convolution_(sizes, true) {
    std::int64_t scratch = convolution_.scratch_length();
    if (context.wants_grad(DeformConvView::In::W)) scratch += convolution_.weight_scratch_length();
    context.request_scratch(sizeof(T) * std::size_t(scratch));
  }

  void forward(OpContext& context) override {
    convolution_.forward_of(gather(context), context.input(DeformConvView::In::W).data<T>(),
                            elements(context, DeformConvView::In::B), context.output(0).data<T>(),
                            context.scratch_as<T>());
  }

  void backward(GradContext& context) override {
    const T* dy = context.grad_output(0).data<T>();
    T* scratch = context.scratch_as<T>();
    const typename DeformedColumns<T>::Gradients gradients{
        detail::zeroed_gradient<T>(context, DeformConvView::In::X),
        detail::zeroed_gradient<T>(context, DeformConvView::In::offset),
        detail::zeroed_gradient<T>(context, DeformConvView::In::mask)};
    if (gradients.x || gradients.offset || gradients.mask) {
      // Groups of one sample may share an offset.
      convolution_.input_gradient_to(
          columns_.scatter_to(gradients, context.input(DeformConvView::In::X).data<T>(),
                              context.input(DeformConvView::In::offset).data<T>(),
                              elements(context, DeformConvView::In::mask)),
          sizes_.group, context.input(DeformConvView::In::W).data<T>(), dy, scratch);
    }
    if (context.wants_grad(DeformConvView::In::W)) {
      convolution_.weight_gradient_of(gather(context), dy,
                                      context.grad_input(DeformConvView::In::W).data<T>(), scratch);
    }
    if (context.wants_grad(DeformConvView::In::B)) {
      detail::bias_gradient(sizes_.batch, convolution_.filters(), convolution_.area(), dy,
                            context.grad_input(DeformConvView::In::B).data<T>());
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {DeformConvView::In::X, DeformConvView::In::W,
                                      DeformConvView::In::offset, DeformConvView::In::mask},
            .backward_reads_outputs = {}};
  }

 private:
  /// Null if the input is omitted.
  template <class Context>
  static const T* elements(const Context& context, std::size_t i) {
    return context.has_input(i) ? context.input(i).template data<T>() : nullptr;
  }
  template <class Context>
  auto gather(const Context& context) const {
    return columns_.gather_from(elements(context, DeformConvView::In::X),
                                elements(context, DeformConvView::In::offset),
                                elements(context, DeformConvView::In::mask));
  }

  detail::ConvolutionSizes sizes_;
  DeformedColumns<T> columns_;
  detail::ColumnConvolution<T> convolution_;
};

/// Shapes: as Conv; per offset group, tap and output position, the offset has one number per
/// dimension, and the mask one number. Source: Zhu et al., "Deformable ConvNets v2" (2018).
class DeformConv final : public Operator {
 public:
  explicit DeformConv(const DeformConvView& view)
      : attributes_(WindowAttributes::of(view)),
        group_(view.group()),
        offset_group_(view.offset_group()) {
    detail::expect_group(group_, view.node());
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const detail::ConvolutionSizes s = sizes(context);
    return {TensorDesc{context.dtype(0), s.window.output_shape(s.batch, s.filters * group_)}};
  }

  Places gradients() const override {
    return {DeformConvView::In::X, DeformConvView::In::W, DeformConvView::In::offset,
            DeformConvView::In::B, DeformConvView::In::mask};
  }

  /// By the definition: the convolution, and a product and a sum per neighbour of each element of
  /// the columns.
  Cost cost(const InferContext& context) const override {
    const detail::ConvolutionSizes s = sizes(context);
    const double columns = double(s.batch) * double(group_ * s.channels) *
                           double(s.window.kernel_size()) * double(s.window.output_size());
    const double neighbours = std::exp2(double(s.window.rank));
    return with_flop(context, detail::convolution_flop(s) + 2 * neighbours * columns);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<DeformConvKernel<T>>(sizes(wide), offset_group_, wide);
    });
  }

 private:
  [[nodiscard]] detail::ConvolutionSizes sizes(const InferContext& context) const {
    const Shape &x = context.shape(DeformConvView::In::X),
                &w = context.shape(DeformConvView::In::W);
    const detail::ConvolutionSizes s =
        detail::convolution_sizes(x, w, attributes_, group_, context.who());
    if (offset_group_ < 1 || x[1] % offset_group_ != 0) {
      throw ShapeError(
          fmt::format("{}: offset_group is {}, expected a divisor of the {} channels of X",
                      context.who(), offset_group_, x[1]));
    }
    const std::int64_t taps = Shape{offset_group_, s.window.kernel_size()}.elements();
    const auto rank = std::int64_t(s.window.rank);
    detail::expect_shape(context, DeformConvView::In::offset, "offset",
                         s.window.output_shape(s.batch, Shape{taps, rank}.elements()));
    detail::expect_shape(context, DeformConvView::In::B, "B", {w[0]});
    detail::expect_shape(context, DeformConvView::In::mask, "mask",
                         s.window.output_shape(s.batch, taps));
    return s;
  }

  WindowAttributes attributes_;
  std::int64_t group_, offset_group_;
};

}  // namespace

void register_deform_conv(OperatorRegistry& registry) {
  registry.add<DeformConv, DeformConvView>();
}

}  // namespace d5::ops
