// SPDX-License-Identifier: Apache-2.0
// Imputer: replaces missing elements, which are marked by one value.
#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

namespace d5::ops {
namespace {

using ImputerView = onnx::nodes::ml::Imputer;

/// `replaced` may be NaN, which matches every NaN.
template <class T>
class ImputerKernel final : public Kernel {
 public:
  ImputerKernel(T replaced, std::vector<T> imputed)
      : replaced_(replaced), imputed_(std::move(imputed)) {}

  void forward(OpContext& context) override {
    T* y = context.output(0).data<T>();
    std::size_t feature = 0;
    for (const T x : context.input(0).span<T>()) {
      *y++ = is_missing(x) ? imputed_[feature] : x;
      if (++feature == imputed_.size()) feature = 0;
    }
  }

  /// The gradient of a replaced element is zero.
  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      T* dx = context.grad_input(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      for (const T x : context.input(0).span<T>()) {
        *dx++ = is_missing(x) ? 0 : *dy;
        ++dy;
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  [[nodiscard]] bool is_missing(T x) const {
    if constexpr (std::floating_point<T>) {
      if (std::isnan(replaced_)) return std::isnan(x);
    }
    return x == replaced_;
  }

  T replaced_;
  std::vector<T> imputed_;
};

/// Shapes: y as x; the last dimension is the features.
class Imputer final : public MovingOperator {
 public:
  explicit Imputer(const ImputerView& view)
      : floats_(view.imputed_value_floats().value_or(std::vector<float>{})),
        integers_(view.imputed_value_int64s().value_or(std::vector<std::int64_t>{})),
        replaced_float_(view.replaced_value_float()),
        replaced_integer_(view.replaced_value_int64()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const bool is_real = x.dtype == DType::float32 || x.dtype == DType::float64;
    const std::size_t count = is_real ? floats_.size() : integers_.size();
    if (count == 0) {
      throw ValueError(fmt::format("{}: X is {}, but imputed_value_{} is missing", context.who(),
                                   name_of(x.dtype), is_real ? "floats" : "int64s"));
    }
    if (count != 1 && (x.shape.rank() == 0 || x.shape[x.shape.rank() - 1] != std::int64_t(count))) {
      throw ShapeError(fmt::format("{}: X is {}, but there are values for {} features",
                                   context.who(), to_string(x.shape), count));
    }
    for (const std::int64_t value : integers_) {
      if (x.dtype == DType::int32 && value != std::int32_t(value)) {
        throw ValueError(fmt::format("{}: {} does not fit int32", context.who(), value));
      }
    }
    return {x};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() -> std::unique_ptr<Kernel> {
                        if constexpr (std::floating_point<T>) {
                          return std::make_unique<ImputerKernel<T>>(
                              T(replaced_float_), std::vector<T>(floats_.begin(), floats_.end()));
                        } else {
                          std::vector<T> imputed;
                          for (const std::int64_t value : integers_) imputed.push_back(T(value));
                          return std::make_unique<ImputerKernel<T>>(T(replaced_integer_),
                                                                    std::move(imputed));
                        }
                      });
  }

 private:
  std::vector<float> floats_;
  std::vector<std::int64_t> integers_;
  float replaced_float_;
  std::int64_t replaced_integer_;
};

}  // namespace

void register_imputer(OperatorRegistry& registry) { registry.add<Imputer, ImputerView>(); }

}  // namespace d5::ops
