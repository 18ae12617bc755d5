// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/sampling/interpolated.hpp"
#include "level0_ops/kernels/sampling/resampling.hpp"

// Kernels of Resize and Upsample.
namespace d5::detail {

/// Resizing of one dimension: `outer` blocks, each of `inner` consecutive elements.
struct ResizeStep {
  std::size_t dimension;
  ResamplingTaps taps;
  std::int64_t outer = 1, inner = 1;
  std::optional<std::size_t> roi = {};  ///< position of its crop's begin in the roi input
};

/// The input with the crop. `ends` is the distance from a crop's begin to its end.
struct RoiInput {
  std::size_t place;
  std::size_t ends;
  double (*read)(const Tensor&, std::size_t);
};

/// Sets the crops of all steps from the input.
template <class Context>
void aim(std::vector<ResizeStep>& steps, const std::optional<RoiInput>& roi,
         const Context& context) {
  if (!roi) return;
  const Tensor& values = context.input(roi->place);
  for (ResizeStep& step : steps) {
    if (!step.roi) continue;
    step.taps.aim({roi->read(values, *step.roi), roi->read(values, *step.roi + roi->ends)});
  }
}

/// T moves like the element type; for gradients it is that type.
template <class T>
class NearestResizeKernel final : public Kernel {
 public:
  /// `steps` has one step per resized dimension, in order. `fill` is the element outside the crop.
  NearestResizeKernel(std::vector<ResizeStep> steps, std::optional<RoiInput> roi, Tensor fill)
      : steps_(std::move(steps)), roi_(roi), fill_(std::move(fill)) {}

  void forward(OpContext& context) override {
    aim(steps_, roi_, context);
    const T* from = static_cast<const T*>(context.input(0).raw());
    T* to = static_cast<T*>(context.output(0).raw());
    const std::int64_t inner = inner_size();
    visit([=, this](std::int64_t at, std::int64_t source) {
      if (source < 0) {
        std::fill_n(to + at * inner, inner, *static_cast<const T*>(fill_.raw()));
      } else {
        std::copy_n(from + source * inner, inner, to + at * inner);
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      aim(steps_, roi_, context);
      zero_elements(context.grad_input(0));
      const T* from = context.grad_output(0).data<T>();
      T* to = context.grad_input(0).data<T>();
      const std::int64_t inner = inner_size();
      visit([=](std::int64_t at, std::int64_t source) {
        if (source < 0) return;
        for (std::int64_t i = 0; i < inner; ++i) to[source * inner + i] += from[at * inner + i];
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = roi_ ? Places{roi_->place} : Places{},
            .backward_reads_outputs = {}};
  }

 private:
  std::int64_t inner_size() const { return steps_.back().inner; }
  /// Calls `f(position in y, position in x)`, in blocks of `inner_size()`, for every block of y; -1
  /// if outside. Blocks of the same outer index run on one thread.
  template <class F>
  void visit(const F& f) const {
    std::int64_t size = inner_size();
    for (const ResizeStep& step : steps_) size *= step.taps.output();
    parallel_for_each(steps_.front().outer, size, 16384,
                      [&](std::int64_t o) { visit(f, 0, o, o); });
  }
  template <class F>
  void visit(const F& f, std::size_t d, std::int64_t at, std::int64_t from) const {
    if (d == steps_.size()) return f(at, from);
    const ResamplingTaps& taps = steps_[d].taps;
    for (std::int64_t o = 0; o < taps.output(); ++o) {
      const bool outside = from < 0 || taps.outside(o);
      visit(f, d + 1, at * taps.output() + o,
            outside ? -1 : from * taps.input() + taps.at(o)->index);
    }
  }

  std::vector<ResizeStep> steps_;  // at least one
  std::optional<RoiInput> roi_;
  Tensor fill_;
};

/// Computes weighted sums dimension by dimension; only the last step rounds.
template <class T>
class InterpolatingResizeKernel final : public Kernel {
  using A = Interpolated<T>;

 public:
  InterpolatingResizeKernel(std::vector<ResizeStep> steps, std::optional<RoiInput> roi,
                            double extrapolation, PlanContext& context)
      : steps_(std::move(steps)), roi_(roi), extrapolation_(extrapolation) {
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
      between_ = std::max(between_, steps_[i].outer * steps_[i].taps.output() * steps_[i].inner);
    }
    context.request_scratch(2 * sizeof(A) * std::size_t(between_));
  }

  void forward(OpContext& context) override {
    aim(steps_, roi_, context);
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    A* scratch = context.scratch_as<A>();
    const std::size_t last = steps_.size() - 1;
    if (last == 0) return resize(steps_[0], x, y);
    resize(steps_[0], x, scratch);
    for (std::size_t i = 1; i < last; ++i) {
      resize(steps_[i], scratch + (i - 1) % 2 * between_, scratch + i % 2 * between_);
    }
    resize(steps_[last], scratch + (last - 1) % 2 * between_, y);
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      aim(steps_, roi_, context);
      const T* from = context.grad_output(0).data<T>();
      for (std::size_t i = steps_.size(); i-- > 0;) {
        T* to =
            i == 0 ? context.grad_input(0).data<T>() : context.scratch_as<T>() + i % 2 * between_;
        spread(steps_[i], from, to);
        from = to;
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = roi_ ? Places{roi_->place} : Places{},
            .backward_reads_outputs = {}};
  }

 private:
  template <class To>
  static To element(A value) {
    if constexpr (std::is_same_v<To, A>) {
      return value;
    } else {
      return rounded<To>(value);
    }
  }

  template <class From, class To>
  void resize(const ResizeStep& step, const From* x, To* y) const {
    const ResamplingTaps& taps = step.taps;
    const std::int64_t rows = taps.output(), inner = step.inner;
    parallel_for_each(step.outer * rows, inner * taps.count(), 16384, [&](std::int64_t row) {
      const From* from = x + row / rows * taps.input() * inner;
      To* to = y + row * inner;
      const ResamplingTaps::Tap* tap = taps.at(row % rows);
      if (taps.outside(row % rows))
        return (void)std::fill_n(to, inner, element<To>(A(extrapolation_)));
      for (std::int64_t i = 0; i < inner; ++i) {
        A sum = 0;
        for (std::int64_t k = 0; k < taps.count(); ++k) {
          sum += A(tap[k].weight) * A(from[tap[k].index * inner + i]);
        }
        to[i] = element<To>(sum);
      }
    });
  }

  /// The transpose of `resize`.
  void spread(const ResizeStep& step, const T* dy, T* dx) const {
    const ResamplingTaps& taps = step.taps;
    const std::int64_t inner = step.inner, size = taps.output() * inner;
    parallel_for_each(step.outer, size * taps.count(), 16384, [&](std::int64_t outer) {
      const T* from = dy + outer * size;
      T* to = dx + outer * taps.input() * inner;
      std::fill_n(to, taps.input() * inner, T(0));
      for (std::int64_t o = 0; o < taps.output(); ++o, from += inner) {
        if (taps.outside(o)) continue;
        for (const auto* tap = taps.at(o); tap != taps.at(o + 1); ++tap) {
          for (std::int64_t i = 0; i < inner; ++i) {
            to[tap->index * inner + i] += T(tap->weight) * from[i];
          }
        }
      }
    });
  }

  std::vector<ResizeStep> steps_;  // at least one
  std::optional<RoiInput> roi_;
  double extrapolation_;
  std::int64_t between_ = 0;  // number of elements of the largest intermediate tensor
};

}  // namespace d5::detail
