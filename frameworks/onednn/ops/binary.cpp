// SPDX-License-Identifier: Apache-2.0
// Binary functions with broadcasting: a table.
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

/// The first operand must not be broadcast: if the order does not matter, operands are swapped.
bool is_symmetric(Algorithm algorithm) {
  return algorithm == Algorithm::binary_add || algorithm == Algorithm::binary_mul ||
         algorithm == Algorithm::binary_max || algorithm == Algorithm::binary_min ||
         algorithm == Algorithm::binary_eq;
}

/// Reads operands of y's shape and type in y's layout.
void add_binary(Pass& pass, Algorithm algorithm, const Argument& a, const Argument& b,
                const Argument& y) {
  const Dims whole = y.desc.get_dims();
  if (a.desc.get_dims() != whole && b.desc.get_dims() == whole && is_symmetric(algorithm)) {
    return add_binary(pass, algorithm, b, a, y);
  }
  const auto read_as = [&](const Desc& desc) {
    const bool is_alike =
        desc.get_dims() == whole && desc.get_data_type() == y.desc.get_data_type();
    return is_alike ? y.desc : desc;
  };
  pass.add(dnnl::binary::primitive_desc(engine(), algorithm, read_as(a.desc), read_as(b.desc),
                                        y.desc, attributes()),
           {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}}, {{DNNL_ARG_DST, y}});
}

/// Operator whose operands are broadcast to an output.
class Broadcasting : public OneDnnKernel {
 protected:
  using OneDnnKernel::OneDnnKernel;

  /// Operand in the output's dimensions: in its layout if it has the output's shape, otherwise
  /// row-major.
  Argument operand(std::size_t i) {
    const TensorDesc &desc = context().input(i), &y = context().output(0);
    if (desc.shape == y.shape && desc.dtype == y.dtype) return input_as_found(i);
    return input(i).as(padded_rows(desc, y.shape.rank()));
  }
  /// The output takes the layout of the first operand that is not row-major; others are reordered.
  Argument output_like(const std::vector<Argument>& operands) {
    for (const Argument& one : operands) {
      if (one.desc != rows(one.desc.get_dims(), one.desc.get_data_type())) {
        return output_in(0, one.desc);
      }
    }
    return output(0);
  }
};

/// Shapes: a and b broadcast to y.
class Binary final : public Broadcasting {
 public:
  Binary(PlanContext& context, Algorithm algorithm) : Broadcasting(context) {
    const Argument a = operand(0), b = operand(1);
    const Argument y = output_like({a, b});
    add_binary(forward_, algorithm, a, b, y);
    traits_.backward_reads_inputs = {};
    if (!context.wants_backward() && a.desc == y.desc) traits_.in_place_output = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      if (context.wants_grad(i)) differentiate(algorithm, i, a, b);
    }
  }

 private:
  void differentiate(Algorithm algorithm, std::size_t i, const Argument& a, const Argument& b) {
    const Argument dy = grad_output(0);
    const Argument dx = grad_input(i).as((i == 0 ? a : b).desc);
    switch (algorithm) {
      case Algorithm::binary_add:
        return add_sum_to(backward_, dy, dx);
      case Algorithm::binary_sub:
        return add_sum_to(backward_, dy, dx, i == 0 ? 1.0f : -1.0f);
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
      default:
        throw Unsupported(context().who() + ": oneDNN has no gradient of it");
    }
  }

  /// The result has dy's shape, in scratch memory.
  Argument combined(Algorithm algorithm, const Argument& dy, const Argument& other) {
    const Argument result = backward_.scratch(dy.desc);
    add_binary(backward_, algorithm, dy, other, result);
    return result;
  }
};

/// Sum, Max and Min of any number of inputs, accumulated in the output.
class Variadic final : public Broadcasting {
 public:
  Variadic(PlanContext& context, Algorithm algorithm) : Broadcasting(context) {
    std::vector<Argument> operands;
    for (std::size_t i = 0; i < context.input_count(); ++i) operands.push_back(operand(i));
    const Argument y = output_like(operands);
    if (operands.size() == 1) forward_.reorder(operands[0], y);
    Argument before = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const bool is_last = i + 1 == operands.size();
      const Argument result = is_last ? y : forward_.scratch(y.desc);
      add_binary(forward_, algorithm, before, operands[i], result);
      before = result;
    }
    traits_.backward_reads_inputs = {};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!context.wants_grad(i)) continue;
      if (algorithm != Algorithm::binary_add) {
        throw Unsupported(context.who() + ": oneDNN has no gradient of it");
      }
      add_sum_to(backward_, grad_output(0), grad_input(i).as(operands[i].desc));
    }
  }
};

Support compares(const PlanContext& context) { return floats(context, {0, 1}, Places{}); }

}  // namespace

void register_binary(OperatorRegistry& registry) {
  using A = Algorithm;
  add<Binary, nodes::Add>(registry, floats, A::binary_add);
  add<Binary, nodes::Sub>(registry, floats, A::binary_sub);
  add<Binary, nodes::Mul>(registry, floats, A::binary_mul);
  add<Binary, nodes::Div>(registry, floats, A::binary_div);
  add<Binary, nodes::Greater>(registry, compares, A::binary_gt);
  add<Binary, nodes::GreaterOrEqual>(registry, compares, A::binary_ge);
  add<Binary, nodes::Less>(registry, compares, A::binary_lt);
  add<Binary, nodes::LessOrEqual>(registry, compares, A::binary_le);
  add<Binary, nodes::Equal>(registry, compares, A::binary_eq);
  add<Variadic, nodes::Sum>(registry, floats, A::binary_add);
  add<Variadic, nodes::Max>(registry, floats, A::binary_max);
  add<Variadic, nodes::Min>(registry, floats, A::binary_min);
}

}  // namespace d5::onednn
