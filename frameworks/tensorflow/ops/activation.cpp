// SPDX-License-Identifier: Apache-2.0
// Elementwise functions with attributes, or composed of several TensorFlow operations.
#include <cmath>
#include <numbers>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// Writes formulas of elements: each function adds one operation.
class Formula {
 public:
  explicit Formula(Graph& graph, Term x) : graph_(graph), like_(x) {}
  Term number(double value) { return graph_.number(value, like_); }
  Term one(const char* type, Term x) { return graph_.elementwise(type, {x}); }
  Term two(const char* type, Term a, Term b) { return graph_.elementwise(type, {a, b}); }
  Term two(const char* type, Term a, double b) { return two(type, a, number(b)); }
  Term select(Term condition, Term a, Term b) { return graph_.add("SelectV2", {condition, a, b}); }

 private:
  Graph& graph_;
  Term like_;
};

/// A row of the table: `make(view, formula, x)` is the function's value.
template <class View, class Make>
void add_formula(Translators& translators, Make) {
  translators.add<View>([](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
    Formula f(graph, inputs[0]);
    return {Make()(View(context.node()), f, inputs[0])};
  });
}

constexpr auto elu = [](double alpha, double gamma, Formula& f, Term x) {
  const Term below = f.two("Mul", f.one("Expm1", f.two("Minimum", x, 0)), alpha * gamma);
  return f.select(f.two("Less", x, 0), below, f.two("Mul", f.one("Relu", x), gamma));
};

constexpr auto gelu = [](const nodes::Gelu& view, Formula& f, Term x) {
  Term inner;
  if (view.approximate() == "tanh") {
    const Term cube = f.two("Mul", x, f.two("Mul", x, x));
    inner = f.one("Tanh", f.two("Mul", f.two("AddV2", x, f.two("Mul", cube, 0.044715)),
                                std::sqrt(2 * std::numbers::inv_pi)));
  } else {
    inner = f.one("Erf", f.two("Mul", x, std::numbers::sqrt2 / 2));
  }
  return f.two("Mul", f.two("Mul", x, 0.5), f.two("AddV2", inner, 1));
};

constexpr auto clipped = [](Formula& f, Term x, double low, double high) {
  return f.two("Minimum", f.two("Maximum", x, low), high);
};

constexpr auto is_inf = [](const nodes::IsInf& view, Formula& f, Term x) {
  const Term infinite = f.one("IsInf", x);
  const bool negative = view.detect_negative() != 0, positive = view.detect_positive() != 0;
  if (negative && positive) return infinite;
  if (!negative && !positive) return f.two("LogicalAnd", infinite, f.one("LogicalNot", infinite));
  return f.two("LogicalAnd", infinite, f.two(positive ? "Greater" : "Less", x, 0));
};

constexpr auto shrink = [](const nodes::Shrink& view, Formula& f, Term x) {
  const Term zero = f.one("ZerosLike", x);
  const Term above =
      f.select(f.two("Greater", x, view.lambd()), f.two("Sub", x, view.bias()), zero);
  return f.select(f.two("Less", x, -double(view.lambd())), f.two("AddV2", x, view.bias()), above);
};

/// Before opset 7 a slope of one dimension has one element per channel.
Terms parametric_relu(const PlanContext& context, Graph& graph, const Terms& inputs) {
  Formula f(graph, inputs[0]);
  const Term x = inputs[0];
  Term slope = inputs[1];
  if (context.node().opset < 7 && context.shape(0).rank() > 1 && context.shape(1).rank() == 1) {
    Sizes sizes(context.shape(0).rank(), 1);
    sizes[1] = -1;
    slope = graph.reshaped(slope, Shape(sizes));
  }
  return {f.select(f.two("Less", x, 0), f.two("Mul", slope, x), x)};
}

/// y = a sigmoid(alpha a) b
Terms swiglu(const PlanContext& context, Graph& graph, const Terms& inputs) {
  Formula f(graph, inputs[0]);
  const Term gate =
      f.one("Sigmoid", f.two("Mul", inputs[0], nodes::SwiGLU(context.node()).alpha()));
  return {f.two("Mul", f.two("Mul", inputs[0], gate), inputs[1])};
}

/// Bounds are attributes before opset 11.
Terms clip(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::Clip view(context.node());
  Term y = inputs[0];
  const auto bound = [&](std::size_t i, const char* type, std::optional<float> attribute) {
    if (context.has_input(i)) {
      y = graph.elementwise(type, {y, graph.reshaped(inputs[i], {})});
    } else if (context.node().opset < 11 && attribute) {
      y = graph.elementwise(type, {y, graph.number(*attribute, y)});
    }
  };
  bound(nodes::Clip::In::min, "Maximum", view.min());
  bound(nodes::Clip::In::max, "Minimum", view.max());
  return {graph.elementwise("Identity", {y})};
}

/// Dropout ratio in training; empty if it is known only at run time. Throws: ValueError.
std::optional<double> dropped_share(const PlanContext& context) {
  using View = nodes::Dropout;
  double ratio = context.node().opset < 12 ? View(context.node()).ratio() : 0.5;
  if (context.has_input(View::In::ratio)) {
    const Tensor* told = context.constant(View::In::ratio);
    if (!told) return {};
    dispatch(FloatTypes{}, told->dtype(), "ratio",
             [&]<class T>() { ratio = double(Arithmetic<T>(told->item<T>())); });
  }
  if (ratio >= 0 && ratio < 1) return ratio;
  throw ValueError(context.who() + ": ratio is " + std::to_string(ratio) +
                   ", expected 0 <= ratio < 1");
}

/// Dropout that drops nothing. In training it would use TensorFlow's random numbers, not d5's.
Terms dropout(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Tensor* flag = context.constant(nodes::Dropout::In::training_mode);
  const std::optional<double> share = dropped_share(context);
  const bool drops_nothing = share == 0.0;
  const bool may_train =
      context.node().opset < 7 ? nodes::Dropout(context.node()).is_test() == 0
      : context.node().opset < 12
          ? context.mode() == Mode::training
          : context.has_input(nodes::Dropout::In::training_mode) && !(flag && !flag->item<bool>());
  if (may_train && !drops_nothing) {
    throw Unsupported(context.who() +
                      ": in training it draws random numbers, which TensorFlow does not take from "
                      "d5; choose another framework for it");
  }
  const Term mask = graph.constant(Tensor::scalar(true));
  Terms outputs = {graph.elementwise("Identity", {inputs[0]})};
  if (!share) {  // the run refuses an invalid one
    const Term ratio = graph.reshaped(inputs[nodes::Dropout::In::ratio], {});
    const Term place = graph.cast(graph.add("Floor", {ratio}), DType::int32);
    const Term one = graph.ones_within(place, 1, graph.dtype(inputs[0]));
    outputs[0] = graph.elementwise("Mul", {inputs[0], one});
  }
  if (context.wants_output(1)) {
    const Term all = graph.add("Shape", {inputs[0]});
    outputs.push_back(graph.cast(graph.add("Fill", {all, mask}), context.output(1).dtype));
  }
  return outputs;
}

}  // namespace

void register_activation(Translators& translators) {
  add_formula<nodes::Elu>(translators, [](const nodes::Elu& view, Formula& f, Term x) {
    return view.alpha() == 1 ? f.one("Elu", x) : elu(view.alpha(), 1, f, x);
  });
  add_formula<nodes::Selu>(translators, [](const nodes::Selu& view, Formula& f, Term x) {
    return elu(view.alpha(), view.gamma(), f, x);
  });
  add_formula<nodes::Celu>(translators, [](const nodes::Celu& view, Formula& f, Term x) {
    const double a = view.alpha();
    if (a <= 0)
      throw Unsupported(onnx::describe(view.node()) + ": TensorFlow's kernel requires alpha > 0");
    const Term below = f.one("Expm1", f.two("Minimum", f.two("RealDiv", x, a), 0));
    return f.two("AddV2", f.one("Relu", x), f.two("Mul", below, a));
  });
  add_formula<nodes::HardSigmoid>(
      translators, [](const nodes::HardSigmoid& view, Formula& f, Term x) {
        return clipped(f, f.two("AddV2", f.two("Mul", x, view.alpha()), view.beta()), 0, 1);
      });
  add_formula<nodes::HardSwish>(translators, [](const nodes::HardSwish&, Formula& f, Term x) {
    return f.two("Mul", x, clipped(f, f.two("AddV2", f.two("Mul", x, 1.0 / 6), 0.5), 0, 1));
  });
  add_formula<nodes::LeakyRelu>(translators, [](const nodes::LeakyRelu& view, Formula& f, Term x) {
    return f.select(f.two("Less", x, 0), f.two("Mul", x, view.alpha()), x);
  });
  add_formula<nodes::Mish>(translators, [](const nodes::Mish&, Formula& f, Term x) {
    return f.two("Mul", x, f.one("Tanh", f.one("Softplus", x)));
  });
  add_formula<nodes::Swish>(translators, [](const nodes::Swish& view, Formula& f, Term x) {
    return f.two("Mul", x, f.one("Sigmoid", f.two("Mul", x, view.alpha())));
  });
  add_formula<nodes::ThresholdedRelu>(
      translators, [](const nodes::ThresholdedRelu& view, Formula& f, Term x) {
        return f.select(f.two("Greater", x, view.alpha()), x, f.one("ZerosLike", x));
      });
  add_formula<nodes::Gelu>(translators, gelu);
  add_formula<nodes::IsInf>(translators, is_inf);
  add_formula<nodes::Shrink>(translators, shrink);
  translators.add<nodes::PRelu>(parametric_relu);
  translators.add<nodes::SwiGLU>(swiglu);
  translators.add<nodes::Clip>(clip);
  translators.add<nodes::Dropout>(dropout);
}

}  // namespace d5::tensorflow
