// SPDX-License-Identifier: Apache-2.0
// ZipMap: each row of scores as a map from class labels to them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/class_labels.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

namespace d5::ops {
namespace {

using ZipMapView = onnx::nodes::ml::ZipMap;

/// A map to float32 scalars.
Map make_map(const detail::ClassLabels& labels, std::vector<Value> values) {
  Map result;
  if (labels.dtype() == DType::string) {
    result.keys = labels.texts();
  } else {
    result.keys = labels.integers();
  }
  const TensorDesc scalar{DType::float32, Shape{}};
  result.values = std::make_shared<const Value>(Sequence{scalar, std::move(values)});
  return result;
}

/// Checks that labels are unique. Throws: ValueError for a repeated label.
template <class T>
void expect_different(std::vector<T> labels, const std::string& who) {
  std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels);
  if (twice == labels.end()) return;
  throw ValueError(
      fmt::format("{}: class label '{}' is repeated", who, printable(fmt::format("{}", *twice))));
}

/// Shapes: X is N x labels, or one row; Z is a sequence of N maps.
class ZipMap final : public MovingOperator {
 public:
  explicit ZipMap(const ZipMapView& view)
      : labels_(view.classlabels_int64s(), view.classlabels_strings(),
                onnx::describe(view.node())) {
    if (labels_.dtype() == DType::string) {
      expect_different(labels_.texts(), onnx::describe(view.node()));
    } else {
      expect_different(labels_.integers(), onnx::describe(view.node()));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (detail::feature_rows(context).features != std::int64_t(labels_.size())) {
      throw ShapeError(fmt::format("{}: X is {}, expected a column for each of {} labels",
                                   context.who(), to_string(context.shape(0)), labels_.size()));
    }
    return {ValueDesc::sequence_of(Value(make_map(labels_, {})).desc())};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    return detail::forward_kernel([rows, features, this](OpContext& run) {
      const float* x = run.input(0).data<float>();
      Sequence result{Value(make_map(labels_, {})).desc(), {}};
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<Value> scores;
        for (std::int64_t i = 0; i < features; ++i) scores.emplace_back(Tensor::scalar(*x++));
        result.values.emplace_back(make_map(labels_, std::move(scores)));
      }
      run.set_output(0, std::move(result));
    });
  }

 private:
  detail::ClassLabels labels_;
};

}  // namespace

void register_zip_map(OperatorRegistry& registry) { registry.add<ZipMap, ZipMapView>(); }

}  // namespace d5::ops
