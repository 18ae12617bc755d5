// SPDX-License-Identifier: Apache-2.0
// Gradient of ai.onnx.preview.training: the derivatives of a tensor by others, in reverse mode. The
// executor provides the graph between them; it runs at the values of the inputs, which may differ
// from those of the tensors.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using GradientView = onnx::nodes::training::Gradient;

class GradientKernel final : public Kernel {
 public:
  explicit GradientKernel(std::size_t variables) : variables_(variables) {}

  void forward(OpContext& context) override {
    SubgraphRunner& graph = context.services().subgraph("graph");
    Places wanted;
    for (std::size_t i = 0; i < variables_; ++i) {
      if (context.wants_output(i)) wanted.add(i);
    }
    graph.keep_runs(wanted);
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      arguments.push_back(context.input_value(i));
    }
    const Tensor seed = ones(context, graph.run(arguments).front().tensor());
    const std::vector<Tensor> slopes = graph.run_backward(std::vector<Tensor>{seed});
    for (std::size_t i = 0; i < variables_; ++i) {
      if (!context.wants_output(i)) continue;
      if (slopes[i].defined()) {
        context.output(i).copy_from(slopes[i]);
      } else {
        detail::zero_elements(context.output(i));
      }
    }
  }

 private:
  /// The derivatives of a tensor of several elements are those of their sum.
  static Tensor ones(const OpContext& context, const Tensor& y) {
    Tensor result = context.services().allocate(y.desc());
    dispatch(FloatTypes{}, y.dtype(), context.who(),
             [&]<class T>() { std::fill_n(result.data<T>(), result.elements(), T(1.0f)); });
    return result;
  }

  std::size_t variables_;
};

/// Shapes: each output is as its variable. The work is counted at the graph's nodes.
class Gradient final : public MovingOperator {
 public:
  explicit Gradient(const GradientView& view) : variables_(view.xs().size()) {
    const onnx::Node& node = view.node();
    const std::size_t constants = view.zs().value_or(std::vector<std::string>()).size();
    if (node.inputs.size() != variables_ + constants || node.outputs.size() > variables_) {
      throw ShapeError(fmt::format(
          "{}: it has {} inputs and {} outputs, expected an input for each of {} xs "
          "and {} zs, and at most an output for each of the xs",
          onnx::describe(node), node.inputs.size(), node.outputs.size(), variables_, constants));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    std::vector<ValueDesc> outputs;
    for (std::size_t i = 0; i < variables_; ++i) {
      if (context.wants_output(i) && !is_floating_point(context.dtype(i))) {
        throw TypeError(
            fmt::format("{}: a gradient by input {} is wanted, which is {}, expected "
                        "floating-point numbers",
                        context.who(), i, to_string(context.input(i))));
      }
      outputs.emplace_back(context.input(i));
    }
    return outputs;
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<GradientKernel>(variables_);
  }

 private:
  std::size_t variables_;
};

}  // namespace

void register_gradient(OperatorRegistry& registry) { registry.add<Gradient, GradientView>(); }

}  // namespace d5::ops
