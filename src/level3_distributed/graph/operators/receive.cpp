// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level3_distributed/graph/group_operator.hpp"

namespace d5::communication_operator {
namespace {

class ReceiveKernel final : public detail::GroupKernel {
 public:
  ReceiveKernel(std::shared_ptr<Communicator> ranks, int from, int tag)
      : GroupKernel(std::move(ranks)), from_(from), tag_(tag) {}
  void backward(GradContext& context) override {
    ranks().send(context.grad_output(0), from_, tag_);
  }

 private:
  void run(OpContext& context) override { ranks().receive(context.output(0), from_, tag_); }
  int from_, tag_;
};

template <class T>
const T& required(const onnx::Node& node, std::string_view name, std::string_view expected) {
  if (const T* value = node.attribute<T>(name)) return *value;
  throw NotFound(
      fmt::format("{} has no attribute {}, expected {}", onnx::describe(node), name, expected));
}

class ReceiveOperator final : public detail::GroupOperator {
 public:
  explicit ReceiveOperator(const onnx::Node& node)
      : GroupOperator(node),
        from_(detail::rank_attribute(node, "from")),
        tag_(detail::tag_attribute(node)),
        desc_{dtype_from_name(required<std::string>(node, "type", "an element type: float32")),
              Shape(required<std::vector<std::int64_t>>(node, "shape", "sizes: [64, 10]"))} {}
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.has_input(0)) {
      const TensorDesc expected{desc_.dtype, {0}};
      const auto message = [&] {
        return fmt::format("{}: input 0 is {}, expected {}: it only asks for a gradient",
                           context.who(), to_string(context.input(0)), to_string(expected));
      };
      if (context.dtype(0) != expected.dtype) throw TypeError(message());
      if (context.shape(0) != expected.shape) throw ShapeError(message());
    }
    return {desc_};
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<ReceiveKernel>(ranks(), from_, tag_);
  }

 private:
  int from_, tag_;
  TensorDesc desc_;
};

}  // namespace

void register_receive(OperatorRegistry& registry) {
  registry.add<ReceiveOperator>("Receive", {.domain = "d5"});
}

}  // namespace d5::communication_operator
