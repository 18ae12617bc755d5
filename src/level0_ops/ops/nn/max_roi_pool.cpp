// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool: maxima over the bins of a grid on each region of interest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using MaxRoiPoolView = onnx::nodes::MaxRoiPool;

/// Elements [begin, end) of a dimension.
struct Range {
  std::int64_t begin, end;
};

/// A region along a dimension, between two elements, inclusive.
class RoiSide {
 public:
  RoiSide(double first, double last, std::int64_t size, std::int64_t bins)
      : first_(std::round(first)),
        bin_(std::max(std::round(last) - first_ + 1, 1.0) / double(bins)),
        size_(double(size)) {}

  [[nodiscard]] Range bin(std::int64_t i) const {
    return {inside(std::floor(double(i) * bin_) + first_),
            inside(std::ceil(double(i + 1) * bin_) + first_)};
  }

 private:
  [[nodiscard]] std::int64_t inside(double place) const {
    return std::int64_t(std::clamp(place, 0.0, size_));
  }
  double first_, bin_, size_;
};

template <class T>
class MaxRoiPoolKernel final : public Kernel {
 public:
  MaxRoiPoolKernel(double scale, PlanContext& context)
      : x_(context.shape(MaxRoiPoolView::In::X)), y_(context.output(0).shape), scale_(scale) {
    if (context.wants_backward()) winners_ = context.save({DType::int64, y_});
  }

  void forward(OpContext& context) override {
    const T* x = context.input(MaxRoiPoolView::In::X).data<T>();
    const T* rois = context.input(MaxRoiPoolView::In::rois).data<T>();
    T* y = context.output(0).data<T>();
    std::int64_t* winners =
        winners_ ? context.saved(*winners_).template data<std::int64_t>() : nullptr;
    for (std::int64_t r = 0; r < y_[0]; ++r) check(rois + 5 * r, r, context.node());
    const std::int64_t bins = y_[2] * y_[3];
    detail::parallel_for_each(y_[0] * y_[1], x_[2] * x_[3], 16384, [&](std::int64_t plane) {
      const T* roi = rois + plane / y_[1] * 5;
      const auto side = [&](int first, std::size_t axis) {
        return RoiSide(at(roi[first]) * scale_, at(roi[first + 2]) * scale_, x_[axis], y_[axis]);
      };
      const RoiSide width = side(1, 3), height = side(2, 2);
      const std::int64_t from = (std::int64_t(at(roi[0])) * x_[1] + plane % y_[1]) * x_[2] * x_[3];
      for (std::int64_t bin = 0; bin < bins; ++bin) {
        const std::int64_t winner =
            largest(x, from, height.bin(bin / y_[3]), width.bin(bin % y_[3]));
        y[plane * bins + bin] = winner < 0 ? T(0) : x[winner];
        if (winners) winners[plane * bins + bin] = winner;
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      detail::zero_elements(context.grad_input(MaxRoiPoolView::In::X));
      const auto winners = context.saved(*winners_).template span<std::int64_t>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(MaxRoiPoolView::In::X).data<T>();
      for (std::size_t i = 0; i < winners.size(); ++i) {
        if (winners[i] >= 0) dx[winners[i]] += dy[i];
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  static double at(T value) { return double(Arithmetic<T>(value)); }

  void check(const T* roi, std::int64_t r, const onnx::Node& node) const {
    const double sample = at(roi[0]);
    if (!(sample >= 0 && sample < double(x_[0]))) {
      throw ValueError(fmt::format("{}: roi {} is of sample {}, expected one of [0, {}]",
                                   onnx::describe(node), r, sample, x_[0] - 1));
    }
    for (int i = 1; i < 5; ++i) {
      if (std::isfinite(at(roi[i]) * scale_)) continue;
      throw ValueError(fmt::format("{}: roi {} has the corner {}, expected finite numbers",
                                   onnx::describe(node), r, at(roi[i])));
    }
  }

  /// The index of the largest element, where NaN counts as the largest; -1 if the bin is empty.
  std::int64_t largest(const T* x, std::int64_t plane, Range rows, Range columns) const {
    std::int64_t winner = -1;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t column = columns.begin; column < columns.end; ++column) {
        const std::int64_t i = plane + row * x_[3] + column;
        if (winner < 0 || at(x[i]) > at(x[winner]) ||
            (std::isnan(at(x[i])) && !std::isnan(at(x[winner])))) {
          winner = i;
        }
      }
    }
    return winner;
  }

  Shape x_, y_;
  double scale_;
  // Saved for backward: index of each bin's maximum, -1 if empty.
  std::optional<std::size_t> winners_;
};

/// Shapes: X is N x C x H x W, a row of rois is a sample and the corners x1, y1, x2, y2; y is
/// rois x C x pooled_shape. An empty bin is 0. Source: Girshick, "Fast R-CNN" (2015).
class MaxRoiPool final : public Operator {
 public:
  explicit MaxRoiPool(const MaxRoiPoolView& view)
      : pooled_(view.pooled_shape()), scale_(double(view.spatial_scale())) {
    if (pooled_.size() != 2 || pooled_[0] < 1 || pooled_[1] < 1) {
      throw ValueError(fmt::format("{}: pooled_shape is {}, expected two numbers of 1 or more",
                                   onnx::describe(view.node()), to_string(Shape(pooled_))));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape &x = context.shape(MaxRoiPoolView::In::X),
                &rois = context.shape(MaxRoiPoolView::In::rois);
    if (x.rank() != 4 || rois.rank() != 2 || rois[1] != 5) {
      throw ShapeError(
          fmt::format("{}: X is {} and rois are {}, expected N x C x H x W and rois x 5",
                      context.who(), to_string(x), to_string(rois)));
    }
    return {TensorDesc{context.dtype(0), {rois[0], x[1], pooled_[0], pooled_[1]}}};
  }

  Places gradients() const override { return {MaxRoiPoolView::In::X}; }

  /// A comparison per element of a region, at most a whole plane; bins share their borders.
  Cost cost(const InferContext& context) const override {
    const Shape& x = context.shape(MaxRoiPoolView::In::X);
    return with_flop(context,
                     double(context.shape(MaxRoiPoolView::In::rois)[0]) * double(x.elements(1, 4)));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<MaxRoiPoolKernel<T>>(scale_, context);
    });
  }

 private:
  std::vector<std::int64_t> pooled_;
  double scale_;
};

}  // namespace

void register_max_roi_pool(OperatorRegistry& registry) {
  registry.add<MaxRoiPool, MaxRoiPoolView>();
}

}  // namespace d5::ops
