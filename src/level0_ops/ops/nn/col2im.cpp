// SPDX-License-Identifier: Apache-2.0
// Col2Im: sums columns of blocks to an image; the transpose of im2col.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <concepts>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/window/columns.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

using Col2ImView = onnx::nodes::Col2Im;

/// A sum of booleans is their disjunction.
using AddedTypes = Join<NumberTypes, Types<bool, std::complex<float>, std::complex<double>>>;

template <class T>
class Col2ImKernel final : public Kernel {
  using A = Arithmetic<T>;

 public:
  /// `planes` is the number of channels of all samples.
  Col2ImKernel(const Window& window, std::int64_t planes, PlanContext& context)
      : window_(window), planes_(planes) {
    if constexpr (!std::is_same_v<T, A>) {  // small floats are summed in float
      context.request_scratch(sizeof(A) * std::size_t(planes * (image() + columns())));
    }
  }

  void forward(OpContext& context) override {
    const T* from = context.input(Col2ImView::In::input).data<T>();
    T* to = context.output(0).data<T>();
    for_each_plane([&](std::int64_t plane) {
      if constexpr (std::is_same_v<T, A>) {
        scatter(from + plane * columns(), to + plane * image());
      } else {
        A* wide_image = context.scratch_as<A>() + plane * (image() + columns());
        A* wide_columns = wide_image + image();
        std::copy_n(from + plane * columns(), columns(), wide_columns);
        scatter(wide_columns, wide_image);
        std::copy_n(wide_image, image(), to + plane * image());
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* from = context.grad_output(0).data<T>();
      T* to = context.grad_input(Col2ImView::In::input).data<T>();
      for_each_plane([&](std::int64_t plane) {
        detail::gather_columns(window_, 1, rows(), from + plane * image(), to + plane * columns());
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t image() const { return window_.input_size(); }
  std::int64_t columns() const { return window_.kernel_size() * window_.output_size(); }
  detail::OutputRows rows() const { return {0, window_.axes[0].output * window_.axes[1].output}; }
  void scatter(const A* columns, A* image) const {
    std::fill_n(image, this->image(), A(0));
    detail::scatter_columns(window_, 1, rows(), columns, image);
  }
  template <class F>
  void for_each_plane(const F& f) const {
    detail::parallel_for_each(planes_, columns(), 16384, f);
  }

  Window window_;
  std::int64_t planes_;
};

/// Shapes: the input is N x (C * block elements) x blocks, the output N x C x image (one to three
/// dimensions).
class Col2Im final : public Operator {
 public:
  explicit Col2Im(const Col2ImView& view) : attributes_(WindowAttributes::of(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto window = resolve(context);
    if (!window) return {unknown_shape(context.dtype(0))};
    const Shape& x = context.shape(Col2ImView::In::input);
    Shape image{x[0], x[1] / window->kernel_size()};
    const auto sizes = context.integers(Col2ImView::In::image_shape);
    for (const std::int64_t size : sizes.values()) image.push_back(size);
    return {TensorDesc{context.dtype(0), image}};
  }

  Places gradients() const override { return {Col2ImView::In::input}; }

  /// A sum per element of a column.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(context.input(Col2ImView::In::input).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Window window = resolve(context).value();
    const Shape& y = context.output(0).shape;
    return kernel_for(AddedTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<Col2ImKernel<T>>(window, y[0] * y[1], context);
    });
  }

 private:
  /// The block as a window over the image; nothing if the sizes are known only at run time.
  [[nodiscard]] std::optional<Window> resolve(const InferContext& context) const {
    const auto image = context.integers(Col2ImView::In::image_shape);
    const auto block = context.integers(Col2ImView::In::block_shape);
    if (image.is_untold() || block.is_untold()) return std::nullopt;
    check_range("image_shape", image.values(), 0, context);
    check_range("block_shape", block.values(), 1, context);
    Shape shape{1, 1};
    for (const std::int64_t size : image.values()) shape.push_back(size);
    const Window window = attributes_.resolve(shape, block.values(), context.who());
    const Shape& x = context.shape(Col2ImView::In::input);
    const std::int64_t blocks = window.output_shape(1, 1).elements();
    if (x.rank() != 3 || x[1] % window.kernel_size() != 0 || x[2] != blocks) {
      throw ShapeError(
          fmt::format("{}: the input is {}, expected N x (a multiple of the {} elements of a "
                      "block) x {} blocks",
                      context.who(), to_string(x), window.kernel_size(), blocks));
    }
    return window;
  }

  /// Limits sizes, so that products of two stay far below 2^63.
  static void check_range(std::string_view name, const detail::Integers& values, std::int64_t least,
                          const InferContext& context) {
    for (const std::int64_t value : values) {
      if (value >= least && value <= std::int64_t{1} << 30) continue;
      throw ValueError(fmt::format("{}: {} holds {}, expected numbers from {} to 2^30",
                                   context.who(), name, value, least));
    }
  }

  WindowAttributes attributes_;
};

}  // namespace

void register_col2im(OperatorRegistry& registry) { registry.add<Col2Im, Col2ImView>(); }

}  // namespace d5::ops
