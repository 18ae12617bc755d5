// SPDX-License-Identifier: Apache-2.0
// Functions of two elements, broadcast: a table.
#include "d5/core/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

void add_binary(Pass& pass, Algorithm algorithm, const Argument& a, const Argument& b,
                const Argument& y) {
  pass.add(dnnl::binary::primitive_desc(engine(), algorithm, a.desc, b.desc, y.desc, attributes()),
           {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}}, {{DNNL_ARG_DST, y}});
}

/// Shapes: a and b broadcast to y.
class Binary final : public OneDnnKernel {
 public:
  Binary(PlanContext& context, Algorithm algorithm) : OneDnnKernel(context) {
    const Argument a = operand(0), b = operand(1), y = output(0);
    add_binary(forward_, algorithm, a, b, y);
    traits_.backward_reads_inputs = {};
    for (std::size_t i = 0; i < 2; ++i) {
      if (context.wants_grad(i)) differentiate(algorithm, i, a, b);
    }
  }

 private:
  [[nodiscard]] Argument operand(std::size_t i) const {
    return input(i).as(padded_rows(context().input(i), context().output(0).shape.rank()));
  }

  void differentiate(Algorithm algorithm, std::size_t i, const Argument& a, const Argument& b) {
    const Argument dy = grad_output(0);
    const Argument dx = grad_input(i).as((i == 0 ? a : b).desc);
    switch (algorithm) {
      case Algorithm::binary_add: return add_sum_to(backward_, dy, dx);
      case Algorithm::binary_sub: return add_sum_to(backward_, dy, dx, i == 0 ? 1.0f : -1.0f);
      case Algorithm::binary_mul: {
        traits_.backward_reads_inputs.add(1 - i);
        return add_sum_to(backward_, combined(Algorithm::binary_mul, dy, i == 0 ? b : a), dx);
      }
      case Algorithm::binary_div: {
        traits_.backward_reads_inputs.add(1);
        const Argument da = combined(Algorithm::binary_div, dy, b);
        if (i == 0) return add_sum_to(backward_, da, dx);
        traits_.backward_reads_outputs.add(0);  // db = -dy y / b
        return add_sum_to(backward_, combined(Algorithm::binary_mul, da, output(0)), dx, -1);
      }
      default: throw Unsupported(context().who() + ": oneDNN has no gradient of it");
    }
  }

  /// Of dy's shape, in scratch memory.
  Argument combined(Algorithm algorithm, const Argument& dy, const Argument& other) {
    const Argument result = backward_.scratch(dy.desc);
    add_binary(backward_, algorithm, dy, other, result);
    return result;
  }
};

/// Sum, Max and Min of any number of inputs: one after another, into the output.
class Variadic final : public OneDnnKernel {
 public:
  Variadic(PlanContext& context, Algorithm algorithm) : OneDnnKernel(context) {
    const std::size_t rank = context.output(0).shape.rank();
    const auto operand = [&](std::size_t i) {
      return input(i).as(padded_rows(context.input(i), rank));
    };
    const Argument y = output(0);
    if (context.input_count() == 1) {
      forward_.reorder(input(0), y);
    } else {
      Argument before = operand(0);
      for (std::size_t i = 1; i < context.input_count(); ++i) {
        // A partial result is of the output's shape, to which it and the next are broadcast.
        const bool last = i + 1 == context.input_count();
        const Argument result = last ? y : forward_.scratch(y.desc);
        add_binary(forward_, algorithm, before, operand(i), result);
        before = result;
      }
    }
    traits_.backward_reads_inputs = {};
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (!context.wants_grad(i)) continue;
      if (algorithm != Algorithm::binary_add) {
        throw Unsupported(context.who() + ": oneDNN has no gradient of it");
      }
      add_sum_to(backward_, grad_output(0), grad_input(i).as(operand(i).desc));
    }
  }
};

}  // namespace

void register_binary(OperatorRegistry& registry) {
  using A = Algorithm;
  add<Binary, nodes::Add>(registry, floats, A::binary_add);
  add<Binary, nodes::Sub>(registry, floats, A::binary_sub);
  add<Binary, nodes::Mul>(registry, floats, A::binary_mul);
  add<Binary, nodes::Div>(registry, floats, A::binary_div);
  add<Variadic, nodes::Sum>(registry, floats, A::binary_add);
  add<Variadic, nodes::Max>(registry, floats, A::binary_max);
  add<Variadic, nodes::Min>(registry, floats, A::binary_min);
}

}  // namespace d5::onednn
