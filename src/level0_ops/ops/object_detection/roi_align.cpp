// SPDX-License-Identifier: Apache-2.0
// RoiAlign: means or maxima over evenly spaced samples in the bins of each region of interest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/word.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using RoiAlignView = onnx::nodes::RoiAlign;

enum class Pooling { mean, max };

struct RoiRule {
  Pooling pooling = Pooling::mean;
  bool half_pixel = true;
  std::int64_t samples = 0;  // per bin and dimension; 0: about one per element
  double scale = 1;
};

/// A region along a dimension. C is the type of the corners' arithmetic.
template <class C>
class RoiSide {
 public:
  RoiSide(const RoiRule& rule, C begin, C end, std::int64_t size, std::int64_t bins) : size_(size) {
    const C shift = rule.half_pixel ? C(0.5) : C(0);
    begin_ = begin * C(rule.scale) - shift;
    C length = end * C(rule.scale) - shift - begin_;
    if (!rule.half_pixel) length = std::max(length, C(1));
    bin_ = length / C(bins);
    samples_ = rule.samples > 0 ? double(rule.samples) : std::max(0.0, double(std::ceil(bin_)));
    step_ = samples_ > 0 ? bin_ / C(samples_) : C(0);
  }

  /// The number of samples in a bin, including those outside the input.
  [[nodiscard]] double samples() const { return samples_; }

  struct Neighbours {
    std::int64_t low, high;
    C low_weight, high_weight;
  };
  /// Calls `f(neighbours)` for every sample of bin `i` inside the input, or less than one element
  /// outside; returns their number.
  template <class F>
  std::int64_t for_each(std::int64_t i, const F& f) const {
    const C start = begin_ + C(i) * bin_;
    std::int64_t inside = 0;
    const auto [first, last] = candidates(start);
    for (std::int64_t s = first; s < last; ++s) {
      C place = start + (C(s) + C(0.5)) * step_;
      if (!(place >= -1 && place <= C(size_))) continue;
      ++inside;
      place = std::clamp(place, C(0), C(size_ - 1));
      const std::int64_t low = std::int64_t(place);
      const C part = place - C(low);
      f(Neighbours{low, std::min(low + 1, size_ - 1), 1 - part, part});
    }
    return inside;
  }

 private:
  /// The range [first, last) of samples that may be inside. A region may be far larger than the
  /// input.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> candidates(C start) const {
    if (!(step_ > 0)) return {0, std::int64_t(samples_)};  // empty or reversed: all samples
    const double first = (-1.0 - double(start)) / double(step_) - 2;
    const double last = (double(size_) - double(start)) / double(step_) + 2;
    return {std::int64_t(std::clamp(first, 0.0, samples_)),
            std::int64_t(std::clamp(last, 0.0, samples_))};
  }

  std::int64_t size_;
  C begin_, bin_, step_;
  double samples_;
};

template <class T>
class RoiAlignKernel final : public Kernel {
  using C = Arithmetic<T>;

 public:
  RoiAlignKernel(const RoiRule& rule, const PlanContext& context)
      : rule_(rule), x_(context.shape(RoiAlignView::In::X)), y_(context.output(0).shape) {}

  void forward(OpContext& context) override {
    const Rois rois(context);
    for (std::int64_t r = 0; r < y_[0]; ++r) check(rois, r, context.node());
    const T* x = context.input(RoiAlignView::In::X).data<T>();
    T* y = context.output(0).data<T>();
    detail::parallel_for_each(y_[0] * y_[1], area() * 16, 16384, [&](std::int64_t plane) {
      const std::int64_t r = plane / y_[1];
      const T* from = x + input_plane(rois, r, plane % y_[1]);
      const Sides sides = sides_of(rois, r);
      for (std::int64_t bin = 0; bin < area(); ++bin) {
        y[plane * area() + bin] = T(pool(from, sides, bin));
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const Rois rois(context);
      detail::zero_elements(context.grad_input(RoiAlignView::In::X));
      const bool max = rule_.pooling == Pooling::max;
      const T* x = max ? context.input(RoiAlignView::In::X).data<T>() : nullptr;
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(RoiAlignView::In::X).data<T>();
      // Regions overlap; channels do not.
      detail::parallel_for_each(y_[1], y_[0] * area() * 16, 16384, [&](std::int64_t c) {
        for (std::int64_t r = 0; r < y_[0]; ++r) {
          const Sides sides = sides_of(rois, r);
          const std::int64_t plane = input_plane(rois, r, c);
          const T* gradient = dy + (r * y_[1] + c) * area();
          for (std::int64_t bin = 0; bin < area(); ++bin) {
            if (max) {
              const Winner winner = largest(x + plane, sides, bin);
              if (winner.offset >= 0) dx[plane + winner.offset] += winner.weight * gradient[bin];
            } else {
              const T share = gradient[bin] / count(sides);
              visit(sides, bin, [&](std::int64_t i, C weight) { dx[plane + i] += weight * share; });
            }
          }
        }
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    Places reads{RoiAlignView::In::rois, RoiAlignView::In::batch_indices};
    if (rule_.pooling == Pooling::max) reads.add(RoiAlignView::In::X);
    return {.backward_reads_inputs = reads, .backward_reads_outputs = {}};
  }

 private:
  struct Rois {
    const T* corners;  // x1, y1, x2, y2 of each region
    const std::int64_t* samples;

    template <class Context>
    explicit Rois(const Context& context)
        : corners(context.input(RoiAlignView::In::rois).template data<T>()),
          samples(context.input(RoiAlignView::In::batch_indices).template data<std::int64_t>()) {}
  };
  struct Sides {
    RoiSide<C> height, width;
  };

  void check(const Rois& rois, std::int64_t r, const onnx::Node& node) const {
    if (rois.samples[r] < 0 || rois.samples[r] >= x_[0]) {
      throw ValueError(fmt::format("{}: batch index {} of roi {} is outside [0, {}]",
                                   onnx::describe(node), rois.samples[r], r, x_[0] - 1));
    }
    for (const T* corner = rois.corners + 4 * r; corner != rois.corners + 4 * (r + 1); ++corner) {
      if (std::abs(double(C(*corner)) * rule_.scale) < 0x1p30) continue;
      throw ValueError(fmt::format("{}: roi {} has the corner {}, expected less than 2^30 elements",
                                   onnx::describe(node), r, double(C(*corner))));
    }
  }

  std::int64_t area() const { return y_[2] * y_[3]; }
  std::int64_t input_plane(const Rois& rois, std::int64_t r, std::int64_t channel) const {
    return (rois.samples[r] * x_[1] + channel) * x_[2] * x_[3];
  }
  Sides sides_of(const Rois& rois, std::int64_t r) const {
    const T* at = rois.corners + 4 * r;
    return {{rule_, C(at[1]), C(at[3]), x_[2], y_[2]}, {rule_, C(at[0]), C(at[2]), x_[3], y_[3]}};
  }
  static C count(const Sides& sides) {
    return C(std::max(1.0, sides.height.samples() * sides.width.samples()));
  }

  /// Calls `f(offset, weight)` for the four neighbours of every sample inside; returns the number
  /// of these samples.
  template <class F>
  std::int64_t visit(const Sides& sides, std::int64_t bin, const F& f) const {
    std::int64_t columns = 0;
    const std::int64_t rows = sides.height.for_each(bin / y_[3], [&](const auto& y) {
      columns = sides.width.for_each(bin % y_[3], [&](const auto& x) {
        f(y.low * x_[3] + x.low, y.low_weight * x.low_weight);
        f(y.low * x_[3] + x.high, y.low_weight * x.high_weight);
        f(y.high * x_[3] + x.low, y.high_weight * x.low_weight);
        f(y.high * x_[3] + x.high, y.high_weight * x.high_weight);
      });
    });
    return rows * columns;
  }

  C pool(const T* x, const Sides& sides, std::int64_t bin) const {
    if (rule_.pooling == Pooling::max) return largest(x, sides, bin).value;
    C sum = 0;
    visit(sides, bin, [&](std::int64_t i, C weight) { sum += weight * C(x[i]); });
    return sum / count(sides);
  }

  /// ONNX takes the maximum of the weighted neighbours, not of the interpolated samples.
  struct Winner {
    C value = 0, weight = 0;
    std::int64_t offset = -1;  // -1: a sample outside, which is zero
  };
  Winner largest(const T* x, const Sides& sides, std::int64_t bin) const {
    Winner winner;
    bool first = true;
    const std::int64_t inside = visit(sides, bin, [&](std::int64_t i, C weight) {
      const C value = weight * C(x[i]);
      if (first || value > winner.value) winner = {value, weight, i};
      first = false;
    });
    const bool all_inside = double(inside) >= sides.height.samples() * sides.width.samples();
    return !all_inside && !(winner.value > 0) ? Winner{} : winner;
  }

  RoiRule rule_;
  Shape x_, y_;
};

/// Shapes: X is N x C x H x W, rois are regions x 4 (x1, y1, x2, y2), batch_indices one for each; y
/// is regions x C x output. Source: He et al., "Mask R-CNN" (2017).
class RoiAlign final : public Operator {
 public:
  explicit RoiAlign(const RoiAlignView& view)
      : height_(view.output_height()), width_(view.output_width()) {
    const onnx::Node& node = view.node();
    rule_.pooling = detail::word_of<Pooling>(node, "mode", view.mode(),
                                             {{"avg", Pooling::mean}, {"max", Pooling::max}});
    rule_.half_pixel = node.opset >= 16 &&
                       detail::word_of<bool>(node, "coordinate_transformation_mode",
                                             view.coordinate_transformation_mode(),
                                             {{"half_pixel", true}, {"output_half_pixel", false}});
    rule_.samples = view.sampling_ratio();
    rule_.scale = double(view.spatial_scale());
    if (height_ < 1 || width_ < 1) {
      throw ValueError(fmt::format("{}: the output is {} x {}, expected 1 or more",
                                   onnx::describe(node), height_, width_));
    }
    if (rule_.samples < 0 || rule_.samples > kMostSamples) {
      throw ValueError(fmt::format("{}: sampling_ratio is {}, expected 0 to {}",
                                   onnx::describe(node), rule_.samples, kMostSamples));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape &x = context.shape(RoiAlignView::In::X),
                &rois = context.shape(RoiAlignView::In::rois);
    if (x.rank() != 4 || rois.rank() != 2 || rois[1] != 4 ||
        context.shape(RoiAlignView::In::batch_indices) != Shape{rois[0]}) {
      throw ShapeError(fmt::format(
          "{}: X is {}, rois are {} and batch_indices {}, expected N x C x H x W, regions x 4 and "
          "regions",
          context.who(), to_string(x), to_string(rois),
          to_string(context.shape(RoiAlignView::In::batch_indices))));
    }
    const Shape y{rois[0], x[1], height_, width_};
    if (y.elements() > 0 && x.elements() == 0) {
      throw ShapeError(
          fmt::format("{}: X is {}; there is nothing to sample", context.who(), to_string(x)));
    }
    return {TensorDesc{context.dtype(0), y}};
  }

  Places gradients() const override { return {RoiAlignView::In::X}; }

  /// Four products and sums per sample; one sample per bin if their number depends on the data.
  Cost cost(const InferContext& context) const override {
    const double samples = double(std::max<std::int64_t>(1, rule_.samples * rule_.samples));
    return with_flop(context, 8 * samples * double(infer(context)[0].tensor.elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<RoiAlignKernel<T>>(rule_, context);
    });
  }

 private:
  static constexpr std::int64_t kMostSamples = 1024;  // per dimension of a bin
  RoiRule rule_;
  std::int64_t height_, width_;
};

}  // namespace

void register_roi_align(OperatorRegistry& registry) { registry.add<RoiAlign, RoiAlignView>(); }

}  // namespace d5::ops
