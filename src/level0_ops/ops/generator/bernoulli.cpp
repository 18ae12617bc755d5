// SPDX-License-Identifier: Apache-2.0
// Bernoulli: 1 with the probability in the input, 0 otherwise.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/node_random.hpp"
#include "level0_ops/kernels/output_type.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

using BernoulliView = onnx::nodes::Bernoulli;

/// Shapes: y as x.
class Bernoulli final : public ElementwiseOperator {
 public:
  explicit Bernoulli(const BernoulliView& view) : seed_(view.seed()) {
    if (view.dtype()) type_ = detail::output_type(view.node(), "dtype", *view.dtype());
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{type_.value_or(context.dtype(0)), context.shape(0)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const std::int64_t count = context.shape(0).elements();
    context.request_scratch(std::size_t(count));
    const detail::Conversion write(DType::boolean, context.output(0).dtype);
    return kernel_for(FloatTypes{}, context.dtype(0), context, [&]<class T>() {
      return detail::forward_kernel([seed = seed_, count, write](OpContext& run) {
        const T* x = run.input(0).data<T>();
        bool* drawn = run.scratch_as<bool>();
        RandomStream random = detail::node_random(run, seed);
        for (std::int64_t i = 0; i < count; ++i) {
          const double p = double(Arithmetic<T>(x[i]));
          if (!(p >= 0 && p <= 1)) {
            throw ValueError(fmt::format("{}: a probability is {}, expected 0 to 1", run.who(), p));
          }
          drawn[i] = random.uniform_double() < p;
        }
        write.run(run.output(0).raw(), drawn, count);
      });
    });
  }

 private:
  std::optional<DType> type_;
  std::optional<float> seed_;
};

}  // namespace

void register_bernoulli(OperatorRegistry& registry) { registry.add<Bernoulli, BernoulliView>(); }

}  // namespace d5::ops
