// SPDX-License-Identifier: Apache-2.0
// FeatureVectorizer: concatenates the features of several inputs.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <optional>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

namespace d5::ops {
namespace {

using FeatureVectorizerView = onnx::nodes::ml::FeatureVectorizer;

/// Numbers of columns of an input, and in the output.
struct Columns {
  std::int64_t given, taken;
};

template <class T>
class VectorizerKernel final : public Kernel {
 public:
  VectorizerKernel(std::int64_t rows, std::vector<Columns> columns)
      : rows_(rows), columns_(std::move(columns)) {}

  void forward(OpContext& context) override {
    float* y = context.output(0).data<float>();
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto [given, taken] = columns_[i];
        const T* x = context.input(i).data<T>() + row * given;
        const std::int64_t both = std::min(given, taken);
        std::transform(x, x + both, y, [](T element) { return float(element); });
        std::fill(y + both, y + taken, 0.0f);
        y += taken;
      }
    }
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const float* dy = context.grad_output(0).data<float>();
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
          const auto [given, taken] = columns_[i];
          if (context.wants_grad(i)) {
            T* dx = context.grad_input(i).data<T>() + row * given;
            const std::int64_t both = std::min(given, taken);
            std::copy(dy, dy + both, dx);
            std::fill(dx + both, dx + given, T(0));
          }
          dy += taken;
        }
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t rows_;
  std::vector<Columns> columns_;
};

/// Shapes: inputs are N x C; further dimensions count as columns, and a vector is one row. Y is N x
/// the sum of inputdimensions: an input with more columns is truncated, one with fewer is padded
/// with zeros.
class FeatureVectorizer final : public MovingOperator {
 public:
  explicit FeatureVectorizer(const FeatureVectorizerView& view)
      : dimensions_(view.inputdimensions()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const std::int64_t rows = rows_of(context.shape(0));
    std::int64_t total = 0;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (rows_of(context.shape(i)) != rows) {
        throw ShapeError(fmt::format(
            "{}: input {} is {}, but input 0 is {}; they must have as many "
            "rows",
            context.who(), i, to_string(context.shape(i)), to_string(context.shape(0))));
      }
      const std::int64_t taken = columns(context, i).taken;
      if (taken < 0 || __builtin_add_overflow(total, taken, &total)) {
        throw ValueError(fmt::format("{}: inputdimensions has {}, expected a number of columns",
                                     context.who(), taken));
      }
    }
    return {TensorDesc{DType::float32, Shape{rows, total}}};
  }

  Places gradients() const override { return Places::all(); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    std::vector<Columns> all;
    for (std::size_t i = 0; i < context.input_count(); ++i) all.push_back(columns(context, i));
    return kernel_for(
        detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
          return std::make_unique<VectorizerKernel<T>>(rows_of(context.shape(0)), std::move(all));
        });
  }

 private:
  static std::int64_t rows_of(const Shape& x) { return x.rank() < 2 ? 1 : x[0]; }

  [[nodiscard]] Columns columns(const InferContext& context, std::size_t i) const {
    const Shape& x = context.shape(i);
    const std::int64_t given = x.rank() < 2 ? x.elements() : x.elements(1, x.rank());
    if (!dimensions_) return {given, given};
    if (dimensions_->size() != context.input_count()) {
      throw ValueError(fmt::format("{}: {} inputdimensions for {} inputs", context.who(),
                                   dimensions_->size(), context.input_count()));
    }
    return {given, (*dimensions_)[i]};
  }

  std::optional<std::vector<std::int64_t>> dimensions_;
};

}  // namespace

void register_feature_vectorizer(OperatorRegistry& registry) {
  registry.add<FeatureVectorizer, FeatureVectorizerView>();
}

}  // namespace d5::ops
