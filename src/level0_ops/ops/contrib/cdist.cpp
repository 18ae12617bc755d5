// SPDX-License-Identifier: Apache-2.0
// com.microsoft's CDist: distances between the rows of two matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using CDistView = onnx::nodes::microsoft::CDist;
using In = CDistView::In;

template <class T>
class CDistKernel final : public Kernel {
 public:
  CDistKernel(const Shape& a, const Shape& b, bool squared)
      : rows_(a[0]), columns_(b[0]), size_(a[1]), squared_(squared) {}

  void forward(OpContext& context) override {
    const T* a = context.input(In::A).data<T>();
    const T* b = context.input(In::B).data<T>();
    T* c = context.output(0).data<T>();
    detail::parallel_for_each(rows_, columns_ * size_, 16384, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < size_; ++k) {
          const double difference = double(a[i * size_ + k]) - double(b[j * size_ + k]);
          sum += difference * difference;
        }
        c[i * columns_ + j] = T(squared_ ? sum : std::sqrt(sum));
      }
    });
  }

  /// For the Euclidean distance, the gradient at distance zero is zero.
  void backward(GradContext& context) override {
    const T* a = context.input(In::A).data<T>();
    const T* b = context.input(In::B).data<T>();
    const T* c = context.output(0).data<T>();
    const T* dc = context.grad_output(0).data<T>();
    T* da = detail::zeroed_gradient<T>(context, In::A);
    T* db = detail::zeroed_gradient<T>(context, In::B);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        const std::int64_t place = i * columns_ + j;
        if (!squared_ && c[place] == 0) continue;
        const T slope = squared_ ? 2 * dc[place] : dc[place] / c[place];
        for (std::int64_t k = 0; k < size_; ++k) {
          const T part = slope * (a[i * size_ + k] - b[j * size_ + k]);
          if (da) da[i * size_ + k] += part;
          if (db) db[j * size_ + k] -= part;
        }
      }
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::A, In::B}, .backward_reads_outputs = {0}};
  }

 private:
  std::int64_t rows_, columns_, size_;
  bool squared_;
};

/// Shapes: A is M x K, B is N x K, C is M x N.
class CDist final : public Operator {
 public:
  explicit CDist(const CDistView& view) : squared_(view.metric() == "sqeuclidean") {
    if (squared_ || view.metric() == "euclidean") return;
    throw ValueError(fmt::format("{}: metric is '{}', expected euclidean or sqeuclidean",
                                 onnx::describe(view.node()), printable(view.metric())));
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape &a = context.shape(In::A), &b = context.shape(In::B);
    if (a.rank() != 2 || b.rank() != 2 || a[1] != b[1]) {
      throw ShapeError(fmt::format("{}: A is {}, B is {}, expected M x K and N x K", context.who(),
                                   to_string(a), to_string(b)));
    }
    return {TensorDesc{context.dtype(In::A), {a[0], b[0]}}};
  }

  Places gradients() const override { return {In::A, In::B}; }

  /// A difference, a product and a sum per element of two rows, and a root of the sum.
  Cost cost(const InferContext& context) const override {
    const Shape &a = context.shape(In::A), &b = context.shape(In::B);
    return with_flop(context, double(a[0]) * double(b[0]) * (3.0 * double(a[1]) + !squared_));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(RealTypes{}, context.dtype(In::A), context, [&]<class T>() {
      return std::make_unique<CDistKernel<T>>(context.shape(In::A), context.shape(In::B), squared_);
    });
  }

 private:
  bool squared_;
};

}  // namespace

void register_cdist(OperatorRegistry& registry) { registry.add<CDist, CDistView>(); }

}  // namespace d5::ops
