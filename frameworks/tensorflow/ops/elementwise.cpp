// SPDX-License-Identifier: Apache-2.0
// Elementwise functions that are a single operation of TensorFlow.
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// A step function, with slope zero; TensorFlow has no gradient for it.
template <class View>
void add_steps(Translators& translators, const char* type) {
  translators.add<View>(
      [type](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
        const Term y = graph.elementwise(type, inputs);
        return {context.wants_backward() ? graph.elementwise("StopGradient", {y}) : y};
      });
}

}  // namespace

void register_elementwise(Translators& translators) {
  translators.add_function<nodes::Relu>("Relu");
  translators.add_function<nodes::Sigmoid>("Sigmoid");
  translators.add_function<nodes::Tanh>("Tanh");
  translators.add_function<nodes::Abs>("Abs");
  translators.add_function<nodes::Acos>("Acos");
  translators.add_function<nodes::Acosh>("Acosh");
  translators.add_function<nodes::Asin>("Asin");
  translators.add_function<nodes::Asinh>("Asinh");
  translators.add_function<nodes::Atan>("Atan");
  translators.add_function<nodes::Atanh>("Atanh");
  translators.add_function<nodes::BitwiseNot>("Invert");
  add_steps<nodes::Ceil>(translators, "Ceil");
  translators.add_function<nodes::Cos>("Cos");
  translators.add_function<nodes::Cosh>("Cosh");
  translators.add_function<nodes::Erf>("Erf");
  translators.add_function<nodes::Exp>("Exp");
  translators.add_function<nodes::Floor>("Floor");
  translators.add_function<nodes::Identity>("Identity");
  translators.add_function<nodes::IsNaN>("IsNan");
  translators.add_function<nodes::Log>("Log");
  translators.add_function<nodes::Neg>("Neg");
  translators.add_function<nodes::Not>("LogicalNot");
  translators.add_function<nodes::Reciprocal>("Reciprocal");
  add_steps<nodes::Round>(translators, "Round");  // both: halves to the even neighbour
  translators.add_function<nodes::Sign>("Sign");
  translators.add_function<nodes::Sin>("Sin");
  translators.add_function<nodes::Sinh>("Sinh");
  translators.add_function<nodes::Softplus>("Softplus");
  translators.add_function<nodes::Softsign>("Softsign");
  translators.add_function<nodes::Sqrt>("Sqrt");
  translators.add_function<nodes::Tan>("Tan");
}

}  // namespace d5::tensorflow
