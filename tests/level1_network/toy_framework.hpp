// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"

namespace toy {

/// The elements of x that are above zero: a size that only the data knows.
class PositiveKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    std::vector<float> kept;
    for (float x : context.input(0).span<float>()) {
      if (x > 0) kept.push_back(x);
    }
    d5::Tensor& y = context.allocate(0, {d5::DType::float32, {std::int64_t(kept.size())}});
    std::copy(kept.begin(), kept.end(), y.data<float>());
  }
  void backward(d5::GradContext& context) override {
    const float* from = context.grad_output(0).data<float>();
    const auto x = context.input(0).span<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      context.grad_input(0).data<float>()[i] = x[i] > 0 ? *from++ : 0;
    }
  }
};

/// The sum of all elements.
class TotalKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    float sum = 0;
    for (float x : context.input(0).span<float>()) sum += x;
    *context.output(0).data<float>() = sum;
  }
  void backward(d5::GradContext& context) override {
    const float slope = context.grad_output(0).item<float>();
    for (float& dx : context.grad_input(0).span<float>()) dx = slope;
  }
  d5::KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }
};

/// Runs the graph `body` on x, and again on the result, as often as `times` says.
class RepeatKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    auto& body = context.services().subgraph("body");
    d5::Value value(context.input(0).copy());
    for (int i = 0; i < *context.node().attribute<std::int64_t>("times"); ++i) {
      value = body.run({&value, 1}).front();
    }
    context.output(0).copy_from(value.tensor());
  }
};

/// One random number.
class DrawKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    *context.output(0).data<float>() = context.services().random().uniform();
  }
};

/// y = x.
class CopyKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override { context.output(0).copy_from(context.input(0)); }
};

/// y = tanh(x), one in a hundred too much.
class WrongTanhKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    const auto x = context.input(0).span<float>();
    float* y = context.output(0).data<float>();
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 1.01F * std::tanh(x[i]);
  }
};

/// An operator that is run by `K`, of one output like input 0.
template <class K>
class Simple : public d5::MovingOperator {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext& context) const override {
    return {context.input(0)};
  }
  std::unique_ptr<d5::Kernel> plan(d5::PlanContext&) const override {
    return std::make_unique<K>();
  }
};

class Positive final : public Simple<PositiveKernel> {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext& context) const override {
    return {d5::TensorDesc{context.dtype(0), {d5::kUnknownDim}}};
  }
  d5::Places gradients() const override { return {0}; }
};

class Total final : public Simple<TotalKernel> {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext& context) const override {
    return {d5::TensorDesc{context.dtype(0), {}}};
  }
  d5::Places gradients() const override { return {0}; }
};

class Draw final : public Simple<DrawKernel> {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext&) const override {
    return {d5::TensorDesc{d5::DType::float32, {1}}};
  }
};

/// Framework "toy": the operators above, for tests that need what they do and nothing else.
/// "Opaque" has no gradient, though its output is a real number.
inline const std::string& name() {
  static const std::string registered = [] {
    d5::add_framework("toy", "1", [](d5::Framework& framework) {
      auto& registry = framework.part<d5::OperatorRegistry>();
      registry.add<Positive>("Positive");
      registry.add<Total>("Total");
      registry.add<Draw>("Draw");
      registry.add<Simple<RepeatKernel>>("Repeat");
      registry.add<Simple<CopyKernel>>("Opaque");
    });
    return std::string("toy");
  }();
  return registered;
}

/// Framework "wrong": a Tanh that is not one, and nothing else.
inline const std::string& wrong() {
  static const std::string registered = [] {
    d5::add_framework("wrong", "1", [](d5::Framework& framework) {
      framework.part<d5::OperatorRegistry>().add_kernel<d5::onnx::nodes::Tanh>(
          [](d5::PlanContext&) { return std::make_unique<WrongTanhKernel>(); });
    });
    return std::string("wrong");
  }();
  return registered;
}

}  // namespace toy
