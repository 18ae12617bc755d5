// SPDX-License-Identifier: Apache-2.0
// Maximum over a sliding window (MaxPool), or over a whole channel (GlobalMaxPool).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/window/pooling.hpp"

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

template <class T>
T lowest() {
  if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::lowest();
  } else {
    return T(-std::numeric_limits<Arithmetic<T>>::infinity());
  }
}

enum class StorageOrder { row_major, column_major };

/// Types of the saved index of each window's maximum, shortest first to save memory.
using PlaceTypes = Types<std::uint16_t, std::uint32_t, std::uint64_t>;

/// A type for all indices in a plane, and one value for none.
DType place_type(std::int64_t plane_size) {
  if (plane_size <= std::numeric_limits<std::uint16_t>::max()) return DType::uint16;
  return plane_size <= std::numeric_limits<std::uint32_t>::max() ? DType::uint32 : DType::uint64;
}

template <class T, class Place>
class MaxPoolKernel final : public Kernel {
 public:
  MaxPoolKernel(const detail::PooledPlanes& planes, StorageOrder order, PlanContext& context)
      : planes_(planes), order_(order) {
    if (context.wants_backward())
      winners_ = context.save({dtype_of<Place>, context.output(0).shape});
  }

  void forward(OpContext& context) override {
    Place* winners = winners_ ? context.saved(*winners_).template data<Place>() : nullptr;
    std::int64_t* indices =
        context.wants_output(1) ? context.output(1).data<std::int64_t>() : nullptr;
    const T* from = context.input(0).data<T>();
    T* to = context.output(0).data<T>();
    const Window& window = planes_.window;
    planes_.for_each([&](std::int64_t plane) {
      const T* values = from + plane * window.input_size();
      const std::int64_t base = plane * window.output_size();
      window.for_each_output([&](std::int64_t o, auto z, auto y, auto x) {
        std::int64_t winner = -1;
        T best = lowest<T>();
        window.for_each_tap(z, y, x, [&](std::int64_t i) {
          if (winner < 0 || values[i] > best || (is_nan(values[i]) && !is_nan(best))) {
            winner = i;
            best = values[i];
          }
        });
        to[base + o] = best;
        if (winners) winners[base + o] = Place(winner);  // kNone if the window is empty
        if (indices) indices[base + o] = index(plane, winner);
      });
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      const Place* winners = context.saved(*winners_).template data<Place>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      const Window& window = planes_.window;
      planes_.for_each([&](std::int64_t plane) {
        T* to = dx + plane * window.input_size();
        std::fill_n(to, window.input_size(), T(0));
        const std::int64_t base = plane * window.output_size();
        for (std::int64_t o = base; o < base + window.output_size(); ++o) {
          if (winners[o] != kNone) to[winners[o]] += dy[o];
        }
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t index(std::int64_t plane, std::int64_t winner) const {
    if (winner < 0) return -1;
    const auto& [depth, height, width] = planes_.window.axes;
    if (order_ == StorageOrder::column_major) {
      const std::int64_t z = winner / (height.input * width.input),
                         y = winner / width.input % height.input, x = winner % width.input;
      winner = (x * height.input + y) * depth.input + z;
    }
    return plane * planes_.window.input_size() + winner;
  }

  detail::PooledPlanes planes_;
  StorageOrder order_;
  static constexpr auto kNone = Place(-1);
  std::optional<std::size_t> winners_;  // saved for backward: index of each window's maximum
};

/// Indices have y's shape. Indices count elements of the whole of x; column-major order applies to
/// the spatial dimensions only. NaN counts as the largest.
class MaxPool final : public detail::Pooling {
 public:
  /// GlobalMaxPool has no attributes.
  explicit MaxPool(const onnx::nodes::GlobalMaxPool&) {}
  explicit MaxPool(const onnx::nodes::MaxPool& view) : Pooling(WindowAttributes::of(view)) {
    const std::int64_t order = view.storage_order();
    if (order != 0 && order != 1) {
      throw ValueError(fmt::format("{}: storage_order is {}, expected 0 or 1",
                                   onnx::describe(view.node()), order));
    }
    if (order == 1) order_ = StorageOrder::column_major;
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    std::vector<ValueDesc> outputs = Pooling::infer(context);
    if (!is_global()) outputs.push_back(TensorDesc{DType::int64, outputs[0].tensor.shape});
    return outputs;
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto pooled = planes(context);
    return kernel_for(MaxPoolTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      std::unique_ptr<Kernel> kernel;
      dispatch(PlaceTypes{}, place_type(pooled.window.input_size()), context.who(),
               [&]<class Place>() {
                 kernel = std::make_unique<MaxPoolKernel<T, Place>>(pooled, order_, context);
               });
      return kernel;
    });
  }

 private:
  StorageOrder order_ = StorageOrder::row_major;
};

}  // namespace

void register_max_pool(OperatorRegistry& registry) {
  registry.add<MaxPool, onnx::nodes::MaxPool>();
  registry.add<MaxPool, onnx::nodes::GlobalMaxPool>();
}

}  // namespace d5::ops
