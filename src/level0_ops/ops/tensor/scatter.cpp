// SPDX-License-Identifier: Apache-2.0
// Scatter, ScatterElements, ScatterND: the data with elements or slices at indices replaced by, or
// reduced with, updates.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/scatter_kernel.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;
using detail::IndexedPlaces;
using detail::ScatterReduction;

/// A subclass defines the meaning of the indices.
class IndexedScatter : public Operator {
 public:
  explicit IndexedScatter(ScatterReduction reduction) : reduction_(reduction) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape expected = shape_of_updates(context), &updates = context.shape(2);
    if (updates != expected) {
      throw ShapeError(fmt::format("{}: updates are {}, expected {}", context.who(),
                                   to_string(updates), to_string(expected)));
    }
    return {context.input(0)};
  }
  Places gradients() const override { return {0, 2}; }
  /// One operation per update.
  Cost cost(const InferContext& context) const override {
    const bool moves = reduction_ == ScatterReduction::none;
    return with_flop(context, moves ? 0 : double(context.shape(2).elements()));
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::plan_scatter(context, places(context), reduction_);
  }

 private:
  [[nodiscard]] virtual Shape shape_of_updates(const InferContext& context) const = 0;
  [[nodiscard]] virtual IndexedPlaces places(const InferContext& context) const = 0;

  ScatterReduction reduction_;
};

/// Shapes: indices have the rank of the data, and are not larger except along the axis; updates are
/// as the indices.
class ScatterElements final : public IndexedScatter {
 public:
  explicit ScatterElements(const nodes::ScatterElements& view)
      : IndexedScatter(detail::scatter_reduction(view.reduction(), view.node())),
        axis_(view.axis()) {}
  explicit ScatterElements(const nodes::Scatter& view)
      : IndexedScatter(ScatterReduction::none), axis_(view.axis()) {}

 private:
  [[nodiscard]] std::size_t axis(const InferContext& context) const {
    return normalize_axis(axis_, context.shape(0).rank(), context.who());
  }
  Shape shape_of_updates(const InferContext& context) const override {
    return IndexedPlaces::shape_along_axis(context, axis(context));
  }
  IndexedPlaces places(const InferContext& context) const override {
    return IndexedPlaces::along_axis(context, axis(context));
  }

  std::int64_t axis_;
};

/// Shapes: the indices end with a dimension of k coordinates; updates are indices without it,
/// followed by the data's dimensions after the first k.
class ScatterND final : public IndexedScatter {
 public:
  explicit ScatterND(const nodes::ScatterND& view)
      : IndexedScatter(detail::scatter_reduction(view.reduction(), view.node())) {}

 private:
  Shape shape_of_updates(const InferContext& context) const override {
    return IndexedPlaces::shape_of_slices(context, 0);
  }
  IndexedPlaces places(const InferContext& context) const override {
    return IndexedPlaces::of_slices(context, 0);
  }
};

}  // namespace

void register_scatter(OperatorRegistry& registry) {
  registry.add("Scatter", {.since = 9, .until = 10}, [](const onnx::Node& node) {
    return std::make_unique<ScatterElements>(nodes::Scatter(node));
  });
  registry.add<ScatterElements, nodes::ScatterElements>();
  registry.add<ScatterND, nodes::ScatterND>();
}

}  // namespace d5::ops
