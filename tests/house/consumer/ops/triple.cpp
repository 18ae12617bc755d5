// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::outside_ops {
namespace {

class TripleKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    const auto x = context.input(0).span<float>();
    float* y = context.output(0).data<float>();
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i];
  }
  KernelTraits traits() const override { return {.in_place_output = 0}; }
};

/// y = 3 x. Shapes: y as x, any.
class Triple final : public ElementwiseOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(Types<float>{}, context.dtype(0), context,
                      []<class T>() { return std::make_unique<TripleKernel>(); });
  }
};

}  // namespace

void register_triple(OperatorRegistry& registry) {
  registry.add<Triple>("Triple", {.domain = "org.example"});
}

}  // namespace d5::outside_ops
