// SPDX-License-Identifier: Apache-2.0
// Maximum over a sliding window (MaxPool), or over all of a channel (GlobalMaxPool).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/pooling.hpp"

namespace d5::ops {
namespace {

using MaxPoolTypes = Join<FloatTypes, Types<std::int8_t, std::uint8_t>>;

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(float(value));
  }
}

/// Indices have y's shape. An index counts in all of x; column-major order concerns the spatial
/// sizes alone. A NaN is the largest of all.
class MaxPool final : public detail::Pooling {
 public:
  /// GlobalMaxPool has no attributes.
  explicit MaxPool(const onnx::nodes::GlobalMaxPool&) {}
  explicit MaxPool(const onnx::nodes::MaxPool& view)
      : Pooling(WindowAttributes::of(view)), wants_indices_(view.node().has_output(1)) {
    const std::int64_t order = view.storage_order();
    if (order != 0 && order != 1) {
      throw ValueError(fmt::format("{}: storage_order is {}, expected 0 or 1",
                                   onnx::describe(view.node()), order));
    }
    column_major_ = order == 1;
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    std::vector<ValueDesc> outputs = Pooling::infer(context);
    if (!is_global()) outputs.push_back(TensorDesc{DType::int64, outputs[0].tensor.shape});
    return outputs;
  }

  void plan(PlanContext& context) override {
    Pooling::plan(context);
    winners_ = context.save({DType::int64, context.output(0).shape});
    training_ = context.mode() == Mode::training;
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    std::int64_t* winners = training_ ? context.saved(winners_).data<std::int64_t>() : nullptr;
    std::int64_t* indices = wants_indices_ ? context.output(1).data<std::int64_t>() : nullptr;
    dispatch(MaxPoolTypes{}, x.dtype(), context.who(), [&]<class T>() {
      const T* from = x.data<T>();
      T* to = context.output(0).data<T>();
      for_each_plane([&](std::int64_t plane) {
        const T* values = from + plane * window_.input_size();
        const std::int64_t base = plane * window_.output_size();
        window_.for_each_output([&](std::int64_t o, auto z, auto y, auto x_position) {
          std::int64_t winner = -1;
          T best = lowest<T>();
          window_.for_each_tap(z, y, x_position, [&](std::int64_t i) {
            if (winner < 0 || values[i] > best || (is_nan(values[i]) && !is_nan(best))) {
              winner = i;
              best = values[i];
            }
          });
          to[base + o] = best;
          if (winners) winners[base + o] = winner;
          if (indices) indices[base + o] = index(plane, winner);
        });
      });
    });
  }

  void backward(GradContext& context) override {
    const std::int64_t* winners = context.saved(winners_).data<std::int64_t>();
    const Tensor& gradient = context.grad_output(0);
    dispatch(RealTypes{}, gradient.dtype(), context.who(), [&]<class T>() {
      const T* dy = gradient.data<T>();
      T* dx = context.grad_input(0).data<T>();
      for_each_plane([&](std::int64_t plane) {
        T* to = dx + plane * window_.input_size();
        std::fill_n(to, window_.input_size(), T(0));
        const std::int64_t base = plane * window_.output_size();
        for (std::int64_t o = base; o < base + window_.output_size(); ++o) {
          if (winners[o] >= 0) to[winners[o]] += dy[o];
        }
      });
    });
  }

  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  template <class T>
  static T lowest() {
    if constexpr (std::is_integral_v<T>)
      return std::numeric_limits<T>::lowest();
    else
      return T(-std::numeric_limits<Arithmetic<T>>::infinity());
  }

  std::int64_t index(std::int64_t plane, std::int64_t winner) const {
    if (winner < 0) return -1;
    if (column_major_) {
      const std::int64_t depth = window_.axes[0].input, height = window_.axes[1].input,
                         width = window_.axes[2].input;
      const std::int64_t z = winner / (height * width), y = winner / width % height,
                         x = winner % width;
      winner = (x * height + y) * depth + z;
    }
    return plane * window_.input_size() + winner;
  }

  bool wants_indices_ = false, column_major_ = false;
  // Of the plan:
  std::size_t winners_ = 0;
  bool training_ = false;
};

}  // namespace

void register_max_pool(OperatorRegistry& registry) {
  registry.add("MaxPool", {}, [](const onnx::Node& node) {
    return std::make_unique<MaxPool>(onnx::nodes::MaxPool(node));
  });
  registry.add("GlobalMaxPool", {}, [](const onnx::Node& node) {
    return std::make_unique<MaxPool>(onnx::nodes::GlobalMaxPool(node));
  });
}

}  // namespace d5::ops
