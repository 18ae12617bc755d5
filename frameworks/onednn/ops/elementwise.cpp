// SPDX-License-Identifier: Apache-2.0
// Elementwise functions: a table. Log and Softplus are missing: oneDNN's are wrong by up to 5e-7
// near 0.
#include <cmath>
#include <limits>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

/// f(x; alpha, beta), and the algorithm of its backward.
struct Function {
  Algorithm algorithm;
  float alpha = 0, beta = 0;
  /// A backward that reads y instead of x, or `undef`: with it y may overwrite x.
  Algorithm from_output = Algorithm::undef;
};

/// A node's function, and its attributes.
using FunctionOf = Function (*)(const PlanContext&);

class Elementwise final : public OneDnnKernel {
 public:
  Elementwise(PlanContext& context, FunctionOf function_of) : OneDnnKernel(context) {
    using Forward = dnnl::eltwise_forward::primitive_desc;
    using Backward = dnnl::eltwise_backward::primitive_desc;
    const Function f = function_of(context);
    const Argument x = input_as_found(0), y = output_in(0, x.desc);
    const bool from_output = f.from_output != Algorithm::undef;
    const Algorithm algorithm =
        context.wants_backward() && from_output ? f.from_output : f.algorithm;
    const Forward forward(engine(), direction(), algorithm, x.desc, y.desc, f.alpha, f.beta,
                          attributes());
    forward_.add(forward, {{DNNL_ARG_SRC, x}}, {{DNNL_ARG_DST, y}});
    traits_ = {.backward_reads_inputs = from_output ? Places{} : Places{0},
               .backward_reads_outputs = from_output ? Places{0} : Places{},
               .in_place_output = from_output || !context.wants_backward() ? 0 : -1};
    if (!context.wants_grad(0)) return;
    const Backward backward(engine(), algorithm, x.desc, y.desc, from_output ? y.desc : x.desc,
                            f.alpha, f.beta, forward, attributes());
    backward_.add(backward,
                  {{from_output ? DNNL_ARG_DST : DNNL_ARG_SRC, from_output ? y : x},
                   {DNNL_ARG_DIFF_DST, grad_output(0)}},
                  {{DNNL_ARG_DIFF_SRC, grad_input(0)}});
  }
};

template <class View>
void add_function(OperatorRegistry& registry, FunctionOf function_of) {
  add<Elementwise, View>(registry, floats, function_of);
}

/// Bound from input `i`, or from the attribute of old opsets. Throws: Unsupported if it is known
/// only at run time.
float bound(const PlanContext& context, std::size_t i, std::string_view attribute,
            float otherwise) {
  if (const auto* value = context.node().attribute<float>(attribute)) return *value;
  if (!context.has_input(i)) return otherwise;
  const Tensor* constant = context.constant(i);
  if (!constant) throw Unsupported(context.who() + ": oneDNN's clip requires constant bounds");
  float result = 0;
  dispatch(FloatTypes{}, constant->dtype(), context.who(),
           [&]<class T>() { result = float(constant->item<T>()); });
  return result;
}

Function clip(const PlanContext& context) {
  using Limits = std::numeric_limits<float>;
  // Before opset 11 a missing bound was the largest finite number.
  const float most = context.node().opset < 11 ? Limits::max() : Limits::infinity();
  const float low = bound(context, 1, "min", -most), high = bound(context, 2, "max", most);
  if (low > high) throw Unsupported(context.who() + ": oneDNN cannot clip to an empty range");
  return {Algorithm::eltwise_clip_v2, low, high, Algorithm::eltwise_clip_v2_use_dst_for_bwd};
}

}  // namespace

void register_elementwise(OperatorRegistry& registry) {
  const auto plain =
      [&]<class View, Algorithm algorithm, Algorithm from_output = Algorithm::undef>() {
        add_function<View>(registry, [](const PlanContext&) -> Function {
          return {algorithm, 0, 0, from_output};
        });
      };
  using A = Algorithm;
  plain.operator()<nodes::Relu, A::eltwise_relu, A::eltwise_relu_use_dst_for_bwd>();
  plain.operator()<nodes::Tanh, A::eltwise_tanh, A::eltwise_tanh_use_dst_for_bwd>();
  plain.operator()<nodes::Sigmoid, A::eltwise_logistic, A::eltwise_logistic_use_dst_for_bwd>();
  plain.operator()<nodes::Exp, A::eltwise_exp, A::eltwise_exp_use_dst_for_bwd>();
  plain.operator()<nodes::Sqrt, A::eltwise_sqrt, A::eltwise_sqrt_use_dst_for_bwd>();
  plain.operator()<nodes::Abs, A::eltwise_abs>();
  plain.operator()<nodes::Mish, A::eltwise_mish>();
  add_function<nodes::Neg>(
      registry, [](const PlanContext&) -> Function { return {A::eltwise_linear, -1, 0}; });
  add_function<nodes::Reciprocal>(
      registry, [](const PlanContext&) -> Function { return {A::eltwise_pow, 1, -1}; });
  add_function<nodes::HardSwish>(registry, [](const PlanContext&) -> Function {
    return {A::eltwise_hardswish, 1.0f / 6, 0.5f};
  });
  add_function<nodes::Elu>(registry, [](const PlanContext& context) -> Function {
    return {A::eltwise_elu, float(nodes::Elu(context.node()).alpha())};
  });
  add_function<nodes::LeakyRelu>(registry, [](const PlanContext& context) -> Function {
    return {A::eltwise_relu, float(nodes::LeakyRelu(context.node()).alpha())};
  });
  add_function<nodes::HardSigmoid>(registry, [](const PlanContext& context) -> Function {
    const nodes::HardSigmoid view(context.node());
    return {A::eltwise_hardsigmoid, float(view.alpha()), float(view.beta())};
  });
  add_function<nodes::Swish>(registry, [](const PlanContext& context) -> Function {
    return {A::eltwise_swish, float(nodes::Swish(context.node()).alpha())};
  });
  add_function<nodes::Gelu>(registry, [](const PlanContext& context) -> Function {
    const bool by_tanh = nodes::Gelu(context.node()).approximate() == "tanh";
    return {by_tanh ? A::eltwise_gelu_tanh : A::eltwise_gelu_erf};
  });
  add_function<nodes::Clip>(registry, clip);
  add<Elementwise, nodes::Round>(registry, floats, FunctionOf([](const PlanContext&) -> Function {
                                   return {A::eltwise_round};  // rounds to nearest, ties to even
                                 }));
}

}  // namespace d5::onednn
