// SPDX-License-Identifier: Apache-2.0
// Transposed convolution: what Conv's gradient does to its output, as an operator.
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

constexpr std::int64_t kMostSize = std::int64_t{1} << 30;
// Below it waking a second thread costs more than it saves.
constexpr double kLeastParallelProducts = 1 << 17;

/// Shapes: x is N x C x spatial (one to three), w is C x M/group x kernel, b is M; y is N x M x
/// output, where output = stride (input - 1) + output_padding + dilation (kernel - 1) + 1 - pads.
/// Seen as a convolution, its window slides over y and has one position for each element of x.
class ConvTranspose final : public Operator {
 public:
  explicit ConvTranspose(const onnx::Node& node)
      : ConvTranspose(onnx::nodes::ConvTranspose(node)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Problem p = problem(context);
    Shape y{p.batch, p.filters * group_};
    for (std::size_t i = 3 - p.window.rank; i < 3; ++i) y.push_back(p.window.axes[i].input);
    (void)y.elements();  // refuses what cannot be counted
    return {TensorDesc{context.dtype(0), y}};
  }

  void plan(PlanContext& context) override {
    p_ = problem(context);
    const double products = double(p_.batch * group_) * double(weights()) * double(positions());
    chunks_ = std::clamp<std::int64_t>(p_.batch * group_, 1,
                                       products < kLeastParallelProducts ? 1 : threads());
    columns_size_ = Shape{depth(), positions()}.elements();
    context.request_scratch(std::size_t(chunks_ * columns_size_) * size_of(context.dtype(0)));
  }

  void forward(OpContext& context) override {
    dispatch(RealTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      const T* w = context.input(1).data<T>();
      const T* b = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      T* y = context.output(0).data<T>();
      for_each_sample(context.scratch_as<T>(), [&](std::int64_t task, std::int64_t g, T* columns) {
        matrix_product<T>({w + g * weights(), depth(), p_.channels, depth(), true},
                          input_view(x, task), {columns, depth(), positions(), positions()});
        T* to = y + task * p_.filters * area();
        for (std::int64_t m = 0; m < p_.filters; ++m) {
          std::fill_n(to + m * area(), area(), b ? b[g * p_.filters + m] : T(0));
        }
        scatter_columns(p_.window, p_.filters, all_rows(), columns, to);
      });
    });
  }

  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* dy = context.grad_output(0).data<T>();
      T* scratch = context.scratch_as<T>();
      if (context.wants_grad(0)) {
        const T* w = context.input(1).data<T>();
        T* dx = context.grad_input(0).data<T>();
        for_each_sample(scratch, [&](std::int64_t task, std::int64_t g, T* columns) {
          gather_columns(p_.window, p_.filters, all_rows(), dy + task * p_.filters * area(),
                         columns);
          matrix_product<T>({w + g * weights(), p_.channels, depth(), depth()},
                            {columns, depth(), positions(), positions()}, input_view(dx, task));
        });
      }
      if (context.wants_grad(1)) {
        const T* x = context.input(0).data<T>();
        T* dw = context.grad_input(1).data<T>();
        std::fill_n(dw, group_ * weights(), T(0));
        // One after another, so that the order of the sum is fixed.
        for (std::int64_t task = 0; task < p_.batch * group_; ++task) {
          gather_columns(p_.window, p_.filters, all_rows(), dy + task * p_.filters * area(),
                         scratch);
          matrix_product<T>(input_view(x, task), {scratch, positions(), depth(), positions(), true},
                            {dw + task % group_ * weights(), p_.channels, depth(), depth()}, T(1),
                            T(1));
        }
      }
      if (context.wants_grad(2)) {
        T* db = context.grad_input(2).data<T>();
        std::fill_n(db, group_ * p_.filters, T(0));
        for (std::int64_t i = 0; i < p_.batch * group_ * p_.filters; ++i) {
          T sum = 0;
          for (std::int64_t j = 0; j < area(); ++j) sum += dy[i * area() + j];
          db[i % (group_ * p_.filters)] += sum;
        }
      }
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t input) const override { return input != 2; }
  bool backward_needs_output(std::size_t) const override { return false; }

  Cost cost(const InferContext& context) const override {
    const Problem p = problem(context);
    Cost cost = Operator::cost(context);
    cost.flop = 2.0 * double(p.batch) * double(group_ * p.channels) * double(p.filters) *
                double(p.window.kernel_size()) * double(p.window.output_size());
    return cost;
  }

 private:
  /// Channels and filters are those of one group.
  struct Problem {
    std::int64_t batch = 0, channels = 0, filters = 0;
    Window window;
  };

  explicit ConvTranspose(const onnx::nodes::ConvTranspose& view) : group_(view.group()) {
    using Sizes = std::vector<std::int64_t>;
    const std::string who = onnx::describe(view.node());
    const auto read = [&](std::string_view name, const std::optional<Sizes>& given,
                          std::int64_t least) {
      for (const std::int64_t value : given.value_or(Sizes{})) {
        if (value < least || value > kMostSize) {
          throw ValueError(fmt::format("{}: {} holds {}, expected numbers from {} to 2^30", who,
                                       name, value, least));
        }
      }
      return given.value_or(Sizes{});
    };
    kernel_ = read("kernel_shape", view.kernel_shape(), 1);
    strides_ = read("strides", view.strides(), 1);
    dilations_ = read("dilations", view.dilations(), 1);
    pads_ = read("pads", view.pads(), 0);
    output_padding_ = read("output_padding", view.output_padding(), 0);
    output_shape_ = read("output_shape", view.output_shape(), 1);
    auto_pad_ = view.auto_pad();
    if (auto_pad_ != "NOTSET" && auto_pad_ != "VALID" && auto_pad_ != "SAME_UPPER" &&
        auto_pad_ != "SAME_LOWER") {
      throw ValueError(
          fmt::format("{}: auto_pad is '{}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER", who,
                      printable(auto_pad_)));
    }
    if (group_ < 1) {
      throw ValueError(fmt::format("{}: group is {}, expected 1 or more", who, group_));
    }
  }

  Problem problem(const InferContext& context) const {
    const Shape &x = context.shape(0), &w = context.shape(1);
    if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank()) {
      throw ShapeError(fmt::format("{}: X is {} and W is {}, expected equal ranks of 3 to 5",
                                   context.who(), to_string(x), to_string(w)));
    }
    if (x[1] != w[0] || x[1] % group_ != 0) {
      throw ShapeError(
          fmt::format("{}: X is {}, W is {} and group is {}; X's channels must be W's "
                      "first size, and divide into groups",
                      context.who(), to_string(x), to_string(w), group_));
    }
    if (context.has_input(2) && context.shape(2) != Shape{w[1] * group_}) {
      throw ShapeError(fmt::format("{}: B is {}, expected {}, one a filter", context.who(),
                                   to_string(context.shape(2)), w[1] * group_));
    }
    Problem p{x[0], x[1] / group_, w[1], {}};
    p.window.rank = x.rank() - 2;
    const auto at = [&](const std::vector<std::int64_t>& values, std::size_t i, std::size_t count,
                        std::string_view name, std::int64_t fallback) {
      if (values.empty()) return fallback;
      // Some exporters write the whole output shape.
      if (name == "output_shape" && values.size() == x.rank()) return values[i + 2];
      if (values.size() != count) {
        throw ShapeError(fmt::format("{}: {} has {} numbers, expected {}", context.who(), name,
                                     values.size(), count));
      }
      return values[i];
    };
    const std::size_t rank = p.window.rank;
    for (std::size_t i = 0; i < rank; ++i) {
      WindowAxis& axis = p.window.axes[3 - rank + i];
      axis.output = x[i + 2];
      axis.kernel = w[i + 2];
      if (at(kernel_, i, rank, "kernel_shape", axis.kernel) != axis.kernel) {
        throw ShapeError(fmt::format("{}: kernel_shape is {} but W is {}", context.who(),
                                     to_string(Shape(kernel_)), to_string(w)));
      }
      axis.stride = at(strides_, i, rank, "strides", 1);
      axis.dilation = at(dilations_, i, rank, "dilations", 1);
      const std::int64_t full = axis.stride * (axis.output - 1) +
                                at(output_padding_, i, rank, "output_padding", 0) +
                                axis.dilation * (axis.kernel - 1) + 1;
      const bool same = auto_pad_.starts_with("SAME");
      if (!output_shape_.empty() || same) {
        axis.input = at(output_shape_, i, rank, "output_shape", axis.output * axis.stride);
        const std::int64_t total = std::max<std::int64_t>(0, full - axis.input);
        axis.pad_begin = auto_pad_ == "SAME_UPPER" ? total / 2 : total - total / 2;
        axis.pad_end = total - axis.pad_begin;
      } else {
        axis.pad_begin = at(pads_, i, 2 * rank, "pads", 0);
        axis.pad_end = at(pads_, i + rank, 2 * rank, "pads", 0);
        axis.input = full - axis.pad_begin - axis.pad_end;
      }
      if (axis.input < 1) {
        throw ShapeError(
            fmt::format("{}: the output would have {} elements along spatial dimension "
                        "{}; lessen the pads",
                        context.who(), axis.input, i));
      }
    }
    return p;
  }

  std::int64_t area() const { return p_.window.input_size(); }
  std::int64_t positions() const { return p_.window.output_size(); }
  std::int64_t depth() const { return p_.filters * p_.window.kernel_size(); }
  std::int64_t weights() const { return p_.channels * depth(); }
  OutputRows all_rows() const { return {0, p_.window.axes[0].output * p_.window.axes[1].output}; }
  template <class T>
  MatrixView<T> input_view(T* x, std::int64_t task) const {
    return {x + task * p_.channels * positions(), p_.channels, positions(), positions()};
  }

  /// `body(task, group, columns)` for each group of each sample.
  template <class T, class F>
  void for_each_sample(T* scratch, F&& body) const {
    const std::int64_t tasks = p_.batch * group_;
    parallel_for(chunks_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        const std::int64_t last = tasks * (chunk + 1) / chunks_;
        for (std::int64_t task = tasks * chunk / chunks_; task < last; ++task) {
          body(task, task % group_, scratch + chunk * columns_size_);
        }
      }
    });
  }

  std::int64_t group_;
  std::vector<std::int64_t> kernel_, strides_, dilations_, pads_, output_padding_, output_shape_;
  std::string auto_pad_;
  // Of the plan:
  Problem p_;
  std::int64_t chunks_ = 1, columns_size_ = 0;
};

}  // namespace

void register_conv_transpose(OperatorRegistry& registry) {
  registry.add<ConvTranspose>("ConvTranspose");
}

}  // namespace d5::ops
