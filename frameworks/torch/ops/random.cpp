// SPDX-License-Identifier: Apache-2.0
// Random operators, which use torch's generator, seeded from d5's stream of the node.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/softmax.h>

#include <bit>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// A random kernel, defined by `draw` alone. In inference a node with a seed draws the same numbers
/// in every run.
class DrawingKernel : public TorchKernel {
 public:
  DrawingKernel(const PlanContext& context, std::optional<float> seed)
      : TorchKernel(context),
        type_(scalar_type(context.output(0).dtype)),
        seed_(seed && !std::isnan(*seed) ? seed : std::nullopt) {}

  void call(Inputs inputs, Results results, const Random& random) const final {
    results[0] = draw(inputs, random ? random : Random(generator_));
  }
  KernelTraits traits() const override { return kBackwardReadsNothing; }

 protected:
  void run(OpContext& context) final {
    RandomStream random = context.services().random();
    const bool seeded = seed_ && context.mode() == Mode::inference;
    generator_.set_current_seed(seeded ? std::bit_cast<std::uint32_t>(*seed_) : random.bits());
    TorchKernel::run(context);
  }
  [[nodiscard]] virtual at::Tensor draw(Inputs inputs, const Random& random) const = 0;
  [[nodiscard]] at::ScalarType type() const { return type_; }

 private:
  at::ScalarType type_;
  std::optional<float> seed_;
  at::Generator generator_ = make_generator(device());
};

/// RandomNormal, RandomUniform and their variants with the shape of another tensor.
template <class View>
class RandomTensor final : public DrawingKernel {
 public:
  explicit RandomTensor(const PlanContext& context)
      : DrawingKernel(context, View(context.node()).seed()),
        sizes_(sizes_of(context.output(0).shape).vec()) {}

 protected:
  at::Tensor draw(Inputs, const Random& random) const override {
    const View view(node());
    at::Tensor y = at::empty(sizes_, of_type(type()));
    if constexpr (requires { view.mean(); }) return y.normal_(view.mean(), view.scale(), random);
    if constexpr (requires { view.low(); }) return y.uniform_(view.low(), view.high(), random);
  }

 private:
  Sizes sizes_;
};

class Bernoulli final : public DrawingKernel {
 public:
  explicit Bernoulli(const PlanContext& context)
      : DrawingKernel(context, nodes::Bernoulli(context.node()).seed()) {}

 protected:
  at::Tensor draw(Inputs inputs, const Random& random) const override {
    return at::empty_like(inputs[0], type()).bernoulli_(widened(inputs[0]), random);
  }
};

/// Shapes: x is batch x classes, logarithms; y is batch x sample_size.
class Multinomial final : public DrawingKernel {
 public:
  explicit Multinomial(const PlanContext& context)
      : DrawingKernel(context, nodes::Multinomial(context.node()).seed()),
        samples_(nodes::Multinomial(node()).sample_size()) {}

 protected:
  at::Tensor draw(Inputs inputs, const Random& random) const override {
    const at::Tensor chances = at::softmax(widened(inputs[0]), 1);
    return at::multinomial(chances, samples_, /*replacement=*/true, random).to(type());
  }

 private:
  std::int64_t samples_;
};

}  // namespace

void register_random(OperatorRegistry& registry) {
  add<RandomTensor<nodes::RandomNormal>, nodes::RandomNormal>(registry, computes);
  add<RandomTensor<nodes::RandomNormalLike>, nodes::RandomNormalLike>(registry, computes);
  add<RandomTensor<nodes::RandomUniform>, nodes::RandomUniform>(registry, computes);
  add<RandomTensor<nodes::RandomUniformLike>, nodes::RandomUniformLike>(registry, computes);
  add<Bernoulli, nodes::Bernoulli>(registry, converts);
  add<Multinomial, nodes::Multinomial>(registry, computes_some);
}

}  // namespace d5::torch
