// SPDX-License-Identifier: Apache-2.0
// Normalization of rows by their own statistics: LayerNormalization, RMSNormalization,
// InstanceNormalization and GroupNormalization, which differ in the definition of a row and in the
// layout of scales.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/row_scale.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// x as `rows` rows of `count` consecutive elements.
struct Rows {
  std::int64_t rows = 0, count = 1;
};

/// Maps elements to `count` scales: element i of row r has the scale at `of_row[r] + of_place[i]`.
struct ScaleMap {
  std::vector<std::int64_t> of_row, of_place;
  std::int64_t count = 0;
  [[nodiscard]] std::int64_t at(std::int64_t row, std::int64_t i) const {
    return of_row[std::size_t(row)] + of_place[std::size_t(i)];
  }
};

/// The map of scales that change by `step` from row to row, with a period of `period` rows, and
/// within a row after every `run` elements.
ScaleMap periodic_scales(const Rows& rows, std::int64_t period, std::int64_t step, std::int64_t run,
                         std::int64_t count) {
  ScaleMap map{.of_row = {}, .of_place = {}, .count = count};
  for (std::int64_t r = 0; r < rows.rows; ++r) map.of_row.push_back(r % period * step);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    map.of_place.push_back(i / std::max<std::int64_t>(1, run));
  }
  return map;
}

/// Offsets in a tensor of shape `scale` for all indices of dimensions [begin, end) of x, row-major.
std::vector<std::int64_t> broadcast_places(const Shape& scale, const Shape& x, std::size_t begin,
                                           std::size_t end) {
  std::vector<std::int64_t> places{0};
  const auto strides = scale.strides();
  for (std::size_t d = begin; d < end; ++d) {
    std::vector<std::int64_t> finer;
    finer.reserve(places.size() * std::size_t(x[d]));
    const std::int64_t stride = scale[d] == 1 ? 0 : strides[d];
    for (const std::int64_t place : places) {
      for (std::int64_t k = 0; k < x[d]; ++k) finer.push_back(place + k * stride);
    }
    places = std::move(finer);
  }
  return places;
}

/// A row spans the dimensions from `axis` on; scales broadcast.
struct Trailing {
  std::int64_t axis;
  std::size_t first_dim(const InferContext& context) const {
    return normalize_axis(axis, context.shape(0).rank(), context.who());
  }
  Rows rows(const InferContext& context) const {
    const Shape& x = context.shape(0);
    const std::size_t first = first_dim(context);
    return {x.elements(0, first), x.elements(first, x.rank())};
  }
  void check_scale(const InferContext& context, std::size_t i) const {
    (void)row_scale(context, i, first_dim(context));
  }
  ScaleMap scales(const InferContext& context, std::size_t i) const {
    const Shape& x = context.shape(0);
    const std::size_t first = first_dim(context);
    const Shape scale = row_scale(context, i, first).shape;
    return {broadcast_places(scale, x, 0, first), broadcast_places(scale, x, first, x.rank()),
            scale.elements()};
  }
};

/// Checks for `count` scales of any shape.
void check_scale_count(const InferContext& context, std::size_t i, std::int64_t count) {
  if (context.input(i).elements() == count) return;
  throw ShapeError(fmt::format("{}: input {} is {}, expected {} elements for an input of {}",
                               context.who(), i, to_string(context.shape(i)), count,
                               to_string(context.shape(0))));
}

/// Source: Ba et al., "Layer Normalization" (2016).
struct Layer : Trailing {
  using View = nodes::LayerNormalization;
  static constexpr bool kCenters = true;
  explicit Layer(const View& view) : Trailing{view.axis()}, stash(DType(view.stash_type())) {
    if (stash == DType::float32 || stash == DType::bfloat16) return;
    throw ValueError(fmt::format("{}: stash_type is {}, expected 1 (float32) or 16 (bfloat16)",
                                 onnx::describe(view.node()), view.stash_type()));
  }
  /// Statistics of doubles are doubles.
  DType statistics_dtype(DType x) const { return x == DType::float64 ? x : stash; }
  DType stash;
};

/// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019).
struct RootMeanSquare : Trailing {
  using View = nodes::RMSNormalization;
  static constexpr bool kCenters = false;
  explicit RootMeanSquare(const View& view) : Trailing{view.axis()} {}
};

const Shape& at_least_n_c(const InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.rank() >= 2) return x;
  throw ShapeError(
      fmt::format("{}: input is {}, expected N x C or more", context.who(), to_string(x)));
}

/// A row is a channel of a sample.
/// Source: Ulyanov et al., "Instance Normalization" (2016).
struct Instance {
  using View = nodes::InstanceNormalization;
  static constexpr bool kCenters = true;
  explicit Instance(const View&) {}
  static Rows rows(const InferContext& context) {
    const Shape& x = at_least_n_c(context);
    return {x[0] * x[1], x.elements(2, x.rank())};
  }
  static void check_scale(const InferContext& context, std::size_t i) {
    check_scale_count(context, i, context.shape(0)[1]);
  }
  static ScaleMap scales(const InferContext& context, std::size_t) {
    const std::int64_t channels = context.shape(0)[1];
    const Rows of = rows(context);
    return periodic_scales(of, channels, 1, of.count, channels);
  }
};

/// A row is a group of channels of a sample; before opset 21, scales are per group, not per
/// channel. Source: Wu and He, "Group Normalization" (2018).
struct Group {
  using View = nodes::GroupNormalization;
  static constexpr bool kCenters = true;
  explicit Group(const View& view)
      : groups(view.num_groups()), scales_groups(view.node().opset < 21) {}
  Rows rows(const InferContext& context) const {
    const Shape& x = at_least_n_c(context);
    if (groups < 1 || x[1] % groups != 0) {
      throw ValueError(fmt::format("{}: num_groups is {}, which does not divide the channels of {}",
                                   context.who(), groups, to_string(x)));
    }
    return {x[0] * groups, x[1] / groups * x.elements(2, x.rank())};
  }
  void check_scale(const InferContext& context, std::size_t i) const {
    check_scale_count(context, i, scales_groups ? groups : context.shape(0)[1]);
  }
  ScaleMap scales(const InferContext& context, std::size_t) const {
    const Shape& x = context.shape(0);
    const Rows of = rows(context);
    if (scales_groups) return periodic_scales(of, groups, 1, of.count, groups);
    return periodic_scales(of, groups, x[1] / groups, x.elements(2, x.rank()), x[1]);
  }
  std::int64_t groups;
  bool scales_groups;
};

template <class T, bool kCenters>
class RowNormalizationKernel final : public Kernel {
 public:
  RowNormalizationKernel(const Rows& rows, ScaleMap scale, ScaleMap bias, double epsilon)
      : rows_(rows), scale_(std::move(scale)), bias_(std::move(bias)), epsilon_(epsilon) {
    if (rows_.count == 0) rows_.rows = 0;
  }

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    const T* scale = context.input(1).data<T>();
    const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* y = context.output(0).data<T>();
    for_each_row([&](std::int64_t r) {
      const T* from = x + r * rows_.count;
      const Statistics s = statistics(from);
      for (std::int64_t i = 0; i < rows_.count; ++i) {
        y[r * rows_.count + i] = T(s.of(from[i]) * double(scale[scale_.at(r, i)]) +
                                   (bias ? double(bias[bias_.at(r, i)]) : 0));
      }
      if (context.wants_output(1)) context.output(1).template data<T>()[r] = T(s.mean);
      if (context.wants_output(2)) context.output(2).template data<T>()[r] = T(s.inverse);
    });
  }

  void backward(GradContext& context) override {
    if (context.has_grad_output(1) || context.has_grad_output(2)) {
      throw Unsupported(
          fmt::format("{} has no gradient through its statistics, only through Y", context.who()));
    }
    const T* x = context.input(0).data<T>();
    const T* scale = context.input(1).data<T>();
    const T* dy = context.grad_output(0).data<T>();
    if (context.wants_grad(0)) {
      T* dx = context.grad_input(0).data<T>();
      for_each_row([&](std::int64_t r) {
        const T* from = x + r * rows_.count;
        const T* up = dy + r * rows_.count;
        const Statistics s = statistics(from);
        double sum = 0, product = 0;  // sums of scale dy, and of scale dy times the normalised x
        for (std::int64_t i = 0; i < rows_.count; ++i) {
          const double g = double(up[i]) * double(scale[scale_.at(r, i)]);
          sum += g;
          product += g * s.of(from[i]);
        }
        const double a = kCenters ? sum / double(rows_.count) : 0;
        const double b = product / double(rows_.count);
        for (std::int64_t i = 0; i < rows_.count; ++i) {
          const double g = double(up[i]) * double(scale[scale_.at(r, i)]);
          dx[r * rows_.count + i] = T(s.inverse * (g - a - s.of(from[i]) * b));
        }
      });
    }
    T* dscale = context.wants_grad(1) ? context.grad_input(1).data<T>() : nullptr;
    T* dbias = context.wants_grad(2) ? context.grad_input(2).data<T>() : nullptr;
    if (dscale) std::fill_n(dscale, scale_.count, T(0));
    if (dbias) std::fill_n(dbias, bias_.count, T(0));
    for (std::int64_t r = 0; (dscale || dbias) && r < rows_.rows; ++r) {
      const T* from = x + r * rows_.count;
      const Statistics s = statistics(from);
      for (std::int64_t i = 0; i < rows_.count; ++i) {
        const T up = dy[r * rows_.count + i];
        if (dscale) dscale[scale_.at(r, i)] += T(double(up) * s.of(from[i]));
        if (dbias) dbias[bias_.at(r, i)] += up;
      }
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  /// In float64, because differences from the mean and inverses may exceed the range of float32.
  struct Statistics {
    double mean, inverse;
    /// x, normalised.
    double of(T x) const { return (double(x) - mean) * inverse; }
  };

  Statistics statistics(const T* x) const {
    double mean = 0, squares = 0;
    if (kCenters) {
      for (std::int64_t i = 0; i < rows_.count; ++i) mean += double(x[i]);
      mean /= double(rows_.count);
    }
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      squares += (double(x[i]) - mean) * (double(x[i]) - mean);
    }
    return {mean, 1 / std::sqrt(squares / double(rows_.count) + epsilon_)};
  }

  template <class F>
  void for_each_row(F&& f) const {
    detail::parallel_for_each(rows_.rows, rows_.count, 16384, f);
  }

  Rows rows_;
  ScaleMap scale_, bias_;
  double epsilon_;
};

/// y = scale (x - mean) / sqrt(var + epsilon) + b; RMSNormalization does not subtract the mean.
///
/// Shapes: y as x. LayerNormalization's Mean and InvStdDev have size 1 in the dimensions of a row.
template <class Kind>
class RowNormalization final : public Operator {
 public:
  explicit RowNormalization(const typename Kind::View& view)
      : kind_(view), epsilon_(view.epsilon()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)kind_.rows(context);  // throws for invalid shapes
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      if (context.has_input(i)) kind_.check_scale(context, i);
    }
    std::vector<ValueDesc> outputs{TensorDesc{context.dtype(1), context.shape(0)}};
    if constexpr (std::is_same_v<Kind, Layer>) {
      Shape statistics = context.shape(0);
      for (std::size_t i = kind_.first_dim(context); i < statistics.rank(); ++i) statistics[i] = 1;
      outputs.resize(3, TensorDesc{kind_.statistics_dtype(context.dtype(0)), statistics});
    }
    return outputs;
  }

  Places gradients() const override { return {0, 1, 2}; }

  /// The statistics: a sum, a difference, a square and its sum; without a mean, a square and its
  /// sum. Then [a difference,] two products [and a bias].
  Cost cost(const InferContext& context) const override {
    const double flop = (Kind::kCenters ? 4 + 3 : 2 + 2) + (context.has_input(2) ? 1 : 0);
    return with_flop(context, flop * double(context.input(0).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<RowNormalizationKernel<T, Kind::kCenters>>(
          kind_.rows(wide), kind_.scales(wide, 1),
          wide.has_input(2) ? kind_.scales(wide, 2) : ScaleMap(), epsilon_);
    });
  }

 private:
  Kind kind_;
  double epsilon_;
};

template <class Kind>
void add(OperatorRegistry& registry) {
  registry.add<RowNormalization<Kind>, typename Kind::View>();
}

}  // namespace

void register_row_normalization(OperatorRegistry& registry) {
  // ONNX Runtime's optimizers also write it to models of older opsets.
  registry.add("LayerNormalization", {.since = 1, .until = 16}, [](const onnx::Node& node) {
    return std::make_unique<RowNormalization<Layer>>(Layer::View(node));
  });
  add<Layer>(registry);
  add<RootMeanSquare>(registry);
  add<Instance>(registry);
  add<Group>(registry);
}

}  // namespace d5::ops
