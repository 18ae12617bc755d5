// SPDX-License-Identifier: Apache-2.0
// Multinomial: draws classes from unnormalised log-probabilities in each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/node_random.hpp"
#include "level0_ops/kernels/output_type.hpp"

namespace d5::ops {
namespace {

using MultinomialView = onnx::nodes::Multinomial;

/// sums[c] = exp(x[0]) + ... + exp(x[c]), all in units of the largest.
template <class T>
void add_up(const T* x, std::int64_t classes, double* sums, const OpContext& run) {
  for (std::int64_t c = 0; c < classes; ++c) sums[c] = double(Arithmetic<T>(x[c]));
  const double largest = *std::max_element(sums, sums + classes);
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sums[c] = sum += std::exp(sums[c] - largest);
  if (std::isfinite(sum)) return;
  throw ValueError(fmt::format(
      "{}: a row holds NaN, infinity, or minus infinity alone; expected logarithms", run.who()));
}

/// Shapes: x is batch x classes, y is batch x sample_size.
class Multinomial final : public Operator {
 public:
  explicit Multinomial(const MultinomialView& view)
      : type_(detail::output_type(view.node(), "dtype", view.dtype())),
        samples_(view.sample_size()),
        seed_(view.seed()) {
    if (samples_ >= 0) return;
    throw ValueError(fmt::format("{}: sample_size is {}, expected 0 or more",
                                 onnx::describe(view.node()), samples_));
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    if (x.rank() != 2 || (x[1] == 0 && x[0] > 0 && samples_ > 0)) {
      throw ShapeError(fmt::format("{}: the input is {}, expected batch x classes, one or more",
                                   context.who(), to_string(x)));
    }
    return {TensorDesc{type_, {x[0], samples_}}};
  }

  /// A product and a sum per class.
  Cost cost(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    return with_flop(context, 2.0 * double(x[0]) * double(x[1]));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    context.request_scratch(sizeof(double) * std::size_t(context.shape(0)[1]));
    return kernel_for(Types<std::int32_t, std::int64_t>{}, type_, context, [&]<class Index>() {
      return kernel_for(FloatTypes{}, context.dtype(0), context, [&]<class T>() {
        return detail::forward_kernel(
            [seed = seed_](OpContext& run) { draw<T, Index>(run, seed); });
      });
    });
  }

 private:
  template <class T, class Index>
  static void draw(OpContext& run, std::optional<float> seed) {
    const Shape &x = run.input(0).shape(), &y = run.output(0).shape();
    const std::int64_t batch = x[0], classes = x[1], samples = y[1];
    if (samples == 0) return;
    const T* from = run.input(0).data<T>();
    Index* to = run.output(0).data<Index>();
    double* sums = run.scratch_as<double>();
    RandomStream random = detail::node_random(run, seed);
    for (std::int64_t row = 0; row < batch; ++row, from += classes) {
      add_up(from, classes, sums, run);
      for (std::int64_t s = 0; s < samples; ++s) {
        const double place = random.uniform_double() * sums[classes - 1];
        // Rounding of the product may exceed the last class.
        const auto drawn = std::upper_bound(sums, sums + classes - 1, place) - sums;
        *to++ = Index(drawn);
      }
    }
  }

  DType type_;
  std::int64_t samples_;
  std::optional<float> seed_;
};

}  // namespace

void register_multinomial(OperatorRegistry& registry) {
  registry.add<Multinomial, MultinomialView>();
}

}  // namespace d5::ops
