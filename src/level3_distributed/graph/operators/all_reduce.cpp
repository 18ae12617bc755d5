// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "d5/core/entries/registry.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

Reduction reduction_of(const onnx::Node& node) {
  static const std::map<std::string, Reduction, std::less<>> known{
      {"maximum", Reduction::maximum}, {"minimum", Reduction::minimum}, {"sum", Reduction::sum}};
  const auto* name = node.attribute<std::string>("reduction");
  if (!name) return Reduction::sum;
  const auto place = known.find(*name);
  if (place == known.end()) {
    throw_unknown_name("reduction", *name, {"maximum", "minimum", "sum"});
  }
  return place->second;
}

class AllReduceKernel final : public detail::GroupKernel {
 public:
  AllReduceKernel(std::shared_ptr<Communicator> ranks, Reduction reduction)
      : GroupKernel(std::move(ranks)), reduction_(reduction) {}
  void backward(GradContext& context) override {
    Tensor& gradient = context.grad_input(0);
    gradient.copy_from(context.grad_output(0));
    ranks().all_reduce(gradient);
  }

 private:
  void run(OpContext& context) override {
    Tensor& output = context.output(0);
    output.copy_from(context.input(0));
    ranks().all_reduce(output, reduction_);
  }
  Reduction reduction_;
};

class AllReduceOperator final : public detail::GroupOperator {
 public:
  explicit AllReduceOperator(const onnx::Node& node)
      : GroupOperator(node), reduction_(reduction_of(node)) {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  [[nodiscard]] Places gradients() const override {
    return reduction_ == Reduction::sum ? Places{0} : Places{};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<AllReduceKernel>(ranks(), reduction_);
  }

 private:
  Reduction reduction_;
};

}  // namespace

void register_all_reduce(OperatorRegistry& registry) {
  registry.add<AllReduceOperator>("AllReduce", {.domain = "d5"});
}

}  // namespace d5::communication_operator
