// SPDX-License-Identifier: Apache-2.0
// com.microsoft's operators with a bias: BiasAdd, BiasDropout, BiasSoftmax and BiasSplitGelu.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using detail::Composition;
using detail::Term;
namespace nodes = onnx::nodes::microsoft;

/// Y = X + bias + skip
struct BiasAdd {
  using View = nodes::BiasAdd;
  explicit BiasAdd(const View&) {}
  void compose(Composition& c, Term sum) const {
    c.output(0, c.add("Add", {sum, c.input(View::In::skip)}));
  }
};

/// output = dropout(data + bias) + residual
struct BiasDropout {
  using View = nodes::BiasDropout;
  explicit BiasDropout(const View& view) : seed(view.seed()) {}
  void compose(Composition& c, Term sum) const {
    Composition::Attributes attributes;
    if (seed) attributes["seed"] = *seed;
    const auto dropped =
        c.add(2, "Dropout", {sum, c.input(View::In::ratio), c.input(View::In::training_mode)},
              attributes);
    c.output(1, dropped[1]);
    const Term residual = c.input(View::In::residual);
    c.output(0, residual ? c.add("Add", {dropped[0], residual}) : dropped[0]);
  }
  std::optional<std::int64_t> seed;
};

/// All dimensions from `axis` on form one distribution.
struct BiasSoftmax {
  using View = nodes::BiasSoftmax;
  explicit BiasSoftmax(const View& view) : axis(view.axis()) {}
  void compose(Composition& c, Term sum) const {
    const Shape shape = c.shape(sum);
    const Term rows = c.add("Flatten", {sum}, {{"axis", axis}});
    const Term y = c.add("Softmax", {rows}, {{"axis", std::int64_t(1)}});
    c.output(0, c.add("Reshape", {y, c.integers({shape.begin(), shape.end()})},
                      {{"allowzero", std::int64_t(1)}}));
  }
  std::int64_t axis;
};

/// Y = a gelu(b), where a and b are the halves of X + bias along its last dimension.
struct BiasSplitGelu {
  using View = nodes::BiasSplitGelu;
  explicit BiasSplitGelu(const View&) {}
  void compose(Composition& c, Term sum) const {
    const Shape& shape = c.shape(sum);
    if (shape.rank() == 0 || shape[shape.rank() - 1] % 2 != 0) {
      throw ShapeError(fmt::format("{}: X is {}, expected a last dimension of two halves",
                                   c.context().who(), to_string(shape)));
    }
    const auto halves =
        c.add(2, "Split", {sum}, {{"axis", std::int64_t(-1)}, {"num_outputs", std::int64_t(2)}});
    c.output(0, c.add("Mul", {halves[0], c.add("Gelu", {halves[1]})}));
  }
};

/// Shapes: the bias is broadcast to the first input.
template <class Kind>
class Biased final : public detail::ComposedOperator {
 public:
  explicit Biased(const typename Kind::View& view) : kind_(view) {}
  [[nodiscard]] Places gradients() const override { return {0, 1, 2}; }

 protected:
  void compose(Composition& c) const override {
    const Term x = c.input(0), sum = c.add("Add", {x, c.input(1)});
    if (c.shape(sum) != c.shape(x)) {
      throw ShapeError(fmt::format("{}: the bias is {}, which cannot be broadcast to {}",
                                   c.context().who(), to_string(c.shape(c.input(1))),
                                   to_string(c.shape(x))));
    }
    kind_.compose(c, sum);
  }

 private:
  Kind kind_;
};

template <class Kind>
void add(OperatorRegistry& registry) {
  registry.add<Biased<Kind>, typename Kind::View>();
}

}  // namespace

void register_biased(OperatorRegistry& registry) {
  add<BiasAdd>(registry);
  add<BiasDropout>(registry);
  add<BiasSoftmax>(registry);
  add<BiasSplitGelu>(registry);
}

}  // namespace d5::ops
