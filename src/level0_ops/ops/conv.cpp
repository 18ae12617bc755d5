// SPDX-License-Identifier: Apache-2.0
// Convolution: y[n, m] = b[m] + sum over c of w[m, c] * x[n, c], as matrix products over columns.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/columns.hpp"
#include "level0_ops/matrix_product.hpp"
#include "level0_ops/window.hpp"

namespace d5::ops {
namespace {

// A tile of columns stays in the second-level cache.
constexpr std::int64_t kTileBytes = 1 << 20;
// Below it waking a second thread costs more than it saves.
constexpr double kLeastParallelProducts = 1 << 17;

/// Shapes: x is N x C x spatial (one to three), w is M x C/group x kernel, b is M;
/// y is N x M x output. Accumulation order is fixed for a given number of threads.
class Conv final : public Operator {
 public:
  explicit Conv(const onnx::Node& node)
      : attributes_(WindowAttributes::of(onnx::nodes::Conv(node))),
        group_(onnx::nodes::Conv(node).group()) {
    if (group_ < 1) {
      throw ValueError(
          fmt::format("{}: group is {}, expected 1 or more", onnx::describe(node), group_));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Problem p = problem(context);
    return {TensorDesc{context.dtype(0), p.window.output_shape(p.batch, p.filters * group_)}};
  }

  void plan(PlanContext& context) override {
    p_ = problem(context);
    const auto element = std::int64_t(size_of(context.dtype(0)));
    const std::int64_t row = std::max<std::int64_t>(1, depth() * width());
    rows_per_tile_ =
        std::clamp<std::int64_t>(kTileBytes / element / row, 1, std::max<std::int64_t>(1, rows()));
    tiles_ = (rows() + rows_per_tile_ - 1) / rows_per_tile_;
    const double products = double(p_.batch) * double(weight_count()) * double(area());
    chunks_ = std::clamp<std::int64_t>(p_.batch * group_ * tiles_, 1,
                                       products < kLeastParallelProducts ? 1 : threads());
    columns_size_ = pointwise() && context.mode() == Mode::inference
                        ? 0
                        : Shape{depth(), width(), rows_per_tile_}.elements();
    // Beside its columns, each chunk but the first sums its own gradient of the weights.
    const std::int64_t weights = context.mode() == Mode::training ? weight_count() : 0;
    if (size_of(context.dtype(0)) == sizeof(Float16)) {
      context.request_scratch(sizeof(float) *
                              std::size_t(chunks_ * columns_size_ + widened_elements(context)));
    } else {
      context.request_scratch(
          std::size_t((chunks_ * columns_size_ + (chunks_ - 1) * weights) * element));
    }
  }

  void forward(OpContext& context) override {
    dispatch(FloatTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      const Tensor &x = context.input(0), &w = context.input(1);
      const T* b = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      Tensor& y = context.output(0);
      if constexpr (std::is_floating_point_v<T>) {
        convolve(x.data<T>(), w.data<T>(), b, y.data<T>(), context.scratch_as<T>());
      } else {
        // Small floats are widened as a whole, behind the columns, and rounded once at the end.
        float* scratch = context.scratch_as<float>();
        float* wide_x = scratch + chunks_ * columns_size_;
        float* wide_w = std::copy_n(x.data<T>(), x.elements(), wide_x);
        float* wide_b = std::copy_n(w.data<T>(), w.elements(), wide_w);
        float* wide_y = b ? std::copy_n(b, context.input(2).elements(), wide_b) : wide_b;
        convolve(wide_x, wide_w, b ? wide_b : nullptr, wide_y, scratch);
        std::copy_n(wide_y, y.elements(), y.data<T>());
      }
    });
  }

  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* dy = context.grad_output(0).data<T>();
      T* scratch = context.scratch_as<T>();
      if (context.wants_grad(0)) {
        input_gradient(context.input(1).data<T>(), dy, context.grad_input(0), scratch);
      }
      if (context.wants_grad(1)) {
        weight_gradient(context.input(0).data<T>(), dy, context.grad_input(1).data<T>(), scratch);
      }
      if (context.wants_grad(2)) bias_gradient(dy, context.grad_input(2).data<T>());
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t input) const override { return input != 2; }
  bool backward_needs_output(std::size_t) const override { return false; }

  Cost cost(const InferContext& context) const override {
    const Problem p = problem(context);
    const double outputs =
        double(p.batch) * double(group_ * p.filters) * double(p.window.output_size());
    Cost cost = Operator::cost(context);
    cost.flop = outputs * (2.0 * double(p.channels) * double(p.window.kernel_size()) +
                           (context.has_input(2) ? 1.0 : 0.0));
    return cost;
  }

 private:
  /// Channels and filters are those of one group.
  struct Problem {
    std::int64_t batch = 0, channels = 0, filters = 0;
    Window window;
  };

  Problem problem(const InferContext& context) const {
    const Shape &x = context.shape(0), &w = context.shape(1);
    if (w.rank() != x.rank() || w.rank() < 3) {
      throw ShapeError(fmt::format("{}: X is {} and W is {}, expected equal ranks of 3 to 5",
                                   context.who(), to_string(x), to_string(w)));
    }
    if (context.dtype(1) != context.dtype(0)) {
      throw TypeError(fmt::format("{}: X is {} but W is {}", context.who(),
                                  name_of(context.dtype(0)), name_of(context.dtype(1))));
    }
    if (w[1] > 0 && x[1] / w[1] == group_ && x[1] % w[1] == 0 && w[0] % group_ == 0) {
      const std::vector<std::int64_t> kernel(w.begin() + 2, w.end());
      if (!attributes_.kernel().empty() && attributes_.kernel() != kernel) {
        throw ShapeError(fmt::format("{}: kernel_shape is {} but W is {}", context.who(),
                                     to_string(Shape(attributes_.kernel())), to_string(w)));
      }
      if (context.has_input(2) && context.shape(2) != Shape{w[0]}) {
        throw ShapeError(fmt::format("{}: B is {}, expected {}, one a filter", context.who(),
                                     to_string(context.shape(2)), w[0]));
      }
      return {x[0], w[1], w[0] / group_, attributes_.resolve(x, kernel, context.who())};
    }
    throw ShapeError(fmt::format(
        "{}: X is {}, W is {} and group is {}; X must have group times W's channels, and the "
        "filters must divide into groups",
        context.who(), to_string(x), to_string(w), group_));
  }

  static std::int64_t widened_elements(const PlanContext& context) {
    std::int64_t count = context.output(0).elements();
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (context.has_input(i)) count += context.input(i).elements();
    }
    return count;
  }

  template <class T>
  void convolve(const T* x, const T* w, const T* b, T* y, T* scratch) const {
    for_each_chunk(p_.batch * group_ * tiles_, [&](std::int64_t chunk, std::int64_t task) {
      const std::int64_t n = task / (group_ * tiles_), g = task / tiles_ % group_;
      const OutputRows tile = tile_rows(task % tiles_);
      const auto columns = gather(tile, x + input_offset(n, g), scratch + chunk * columns_size_);
      const MatrixView<T> out = output_view(y, n, g, tile);
      for (std::int64_t m = 0; b && m < out.rows; ++m) {
        std::fill_n(out.data + m * out.stride, out.columns, b[g * p_.filters + m]);
      }
      matrix_product<T>(weights_view(w, g), columns, out, T(1), b ? T(1) : T(0));
    });
  }

  std::int64_t width() const { return p_.window.axes[2].output; }
  std::int64_t rows() const { return p_.window.axes[0].output * p_.window.axes[1].output; }
  std::int64_t area() const { return p_.window.output_size(); }
  /// The inner size of the products.
  std::int64_t depth() const { return p_.channels * p_.window.kernel_size(); }
  std::int64_t weight_count() const { return group_ * p_.filters * depth(); }
  std::int64_t input_offset(std::int64_t n, std::int64_t g) const {
    return (n * group_ + g) * p_.channels * p_.window.input_size();
  }
  /// The input itself is the matrix of columns.
  bool pointwise() const {
    return std::all_of(p_.window.axes.begin(), p_.window.axes.end(), [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
    });
  }

  OutputRows tile_rows(std::int64_t tile) const {
    return {tile * rows_per_tile_, std::min((tile + 1) * rows_per_tile_, rows())};
  }

  /// `body(chunk, task)` for every task; the tasks of one chunk run in order, on one thread.
  template <class F>
  void for_each_chunk(std::int64_t tasks, F&& body) const {
    parallel_for(chunks_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        const std::int64_t last = tasks * (chunk + 1) / chunks_;
        for (std::int64_t task = tasks * chunk / chunks_; task < last; ++task) body(chunk, task);
      }
    });
  }

  template <class T>
  MatrixView<const T> gather(OutputRows tile, const T* x, T* columns) const {
    const std::int64_t count = (tile.end - tile.begin) * width();
    if (pointwise()) return {x + tile.begin * width(), depth(), count, area()};
    gather_columns(p_.window, p_.channels, tile, x, columns);
    return {columns, depth(), count, count};
  }

  template <class T>
  MatrixView<const T> weights_view(const T* w, std::int64_t g) const {
    return {w + g * p_.filters * depth(), p_.filters, depth(), depth()};
  }

  template <class T>
  MatrixView<T> output_view(T* y, std::int64_t n, std::int64_t g, OutputRows tile) const {
    return {y + (n * group_ + g) * p_.filters * area() + tile.begin * width(), p_.filters,
            (tile.end - tile.begin) * width(), area()};
  }

  template <class T>
  void input_gradient(const T* w, const T* dy, Tensor& result, T* scratch) const {
    T* dx = result.data<T>();
    const std::int64_t size = p_.channels * p_.window.input_size();
    for_each_chunk(p_.batch * group_, [&](std::int64_t chunk, std::int64_t task) {
      const std::int64_t n = task / group_, g = task % group_;
      T* columns = scratch + chunk * columns_size_;
      T* sum = dx + task * size;
      std::fill_n(sum, size, T(0));
      MatrixView<const T> weights = weights_view(w, g);
      weights = {weights.data, weights.columns, weights.rows, weights.stride, true};
      for (std::int64_t t = 0; t < tiles_; ++t) {
        const OutputRows tile = tile_rows(t);
        const auto gradient = output_view(dy, n, g, tile);
        matrix_product<T>(weights, gradient,
                          {columns, depth(), gradient.columns, gradient.columns});
        scatter_columns(p_.window, p_.channels, tile, columns, sum);
      }
    });
  }

  template <class T>
  void weight_gradient(const T* x, const T* dy, T* dw, T* scratch) const {
    const std::int64_t size = weight_count();
    T* own_sums = scratch + chunks_ * columns_size_;
    const auto sum_of = [&](std::int64_t chunk) {
      return chunk == 0 ? dw : own_sums + (chunk - 1) * size;
    };
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) std::fill_n(sum_of(chunk), size, T(0));
    for_each_chunk(p_.batch * group_ * tiles_, [&](std::int64_t chunk, std::int64_t task) {
      const std::int64_t n = task / (group_ * tiles_), g = task / tiles_ % group_;
      const OutputRows tile = tile_rows(task % tiles_);
      auto columns = gather(tile, x + input_offset(n, g), scratch + chunk * columns_size_);
      columns = {columns.data, columns.columns, columns.rows, columns.stride, true};
      matrix_product<T>(output_view(dy, n, g, tile), columns,
                        {sum_of(chunk) + g * p_.filters * depth(), p_.filters, depth(), depth()},
                        T(1), T(1));
    });
    for (std::int64_t chunk = 1; chunk < chunks_; ++chunk) {
      const T* other = sum_of(chunk);
      for (std::int64_t i = 0; i < size; ++i) dw[i] += other[i];
    }
  }

  template <class T>
  void bias_gradient(const T* dy, T* db) const {
    const std::int64_t filters = group_ * p_.filters;
    parallel_for(filters, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        T sum = 0;
        for (std::int64_t n = 0; n < p_.batch; ++n) {
          const T* from = dy + (n * filters + m) * area();
          T part = 0;  // sums of short sums lose less
          for (std::int64_t i = 0; i < area(); ++i) part += from[i];
          sum += part;
        }
        db[m] = sum;
      }
    });
  }

  WindowAttributes attributes_;
  std::int64_t group_;
  // Of the plan:
  Problem p_;
  std::int64_t rows_per_tile_ = 1, tiles_ = 0, chunks_ = 1, columns_size_ = 0;
};

}  // namespace

void register_conv(OperatorRegistry& registry) { registry.add<Conv>("Conv"); }

}  // namespace d5::ops
