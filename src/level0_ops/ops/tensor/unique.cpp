// SPDX-License-Identifier: Apache-2.0
// Unique: the distinct elements of a tensor, or its distinct slices along an axis, whose number
// depends on the data.
#include <algorithm>
#include <complex>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using UniqueView = onnx::nodes::Unique;
using ComparedTypes =
    Join<NumberTypes, Types<bool, std::string, std::complex<float>, std::complex<double>>>;

/// Negative if a is before b. All NaN are equal, and last; complex numbers are compared by their
/// real parts first.
template <class T>
int compare(const T& a, const T& b) {
  if constexpr (requires { a.imag(); }) {
    const int real = compare(a.real(), b.real());
    return real != 0 ? real : compare(a.imag(), b.imag());
  } else {
    const bool no_a = a != a, no_b = b != b;
    if (no_a || no_b) return int(no_a) - int(no_b);
    return a < b ? -1 : b < a ? 1 : 0;
  }
}

/// The input has `outer` blocks of `size` slices of `inner` elements.
struct Slices {
  std::int64_t outer, size, inner;
};

template <class T>
class UniqueKernel final : public Kernel {
 public:
  /// `axis` is the dimension of y with the number of distinct slices.
  UniqueKernel(TensorDesc y, std::size_t axis, const Slices& slices, bool sorted,
               PlanContext& context)
      : y_(std::move(y)), axis_(axis), slices_(slices), sorted_(sorted) {
    if (context.wants_backward()) chosen_ = context.save({DType::int64, {slices.size}});
  }

  /// Scratch integers per slice.
  static constexpr std::int64_t kScratch = 5;

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    const auto size = std::size_t(slices_.size);
    std::int64_t* scratch = context.scratch_as<std::int64_t>();
    const auto next = [&] { return std::span(std::exchange(scratch, scratch + size), size); };
    const auto order = next(), group = next(), first = next(), count = next(), place = next();
    std::iota(order.begin(), order.end(), std::int64_t(0));
    std::sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      const int difference = compare_slices(x, i, j);
      return difference != 0 ? difference < 0 : i < j;
    });
    std::size_t groups = 0;
    for (std::size_t k = 0; k < size; ++k) {
      if (k == 0 || compare_slices(x, order[k - 1], order[k]) != 0) {
        first[groups] = order[k];
        count[groups++] = 0;
      }
      group[std::size_t(order[k])] = std::int64_t(groups) - 1;
      ++count[groups - 1];
    }
    // `place` has the position of each group in the outputs, `order` the group at each position.
    const auto at_place = order.first(groups);
    std::iota(at_place.begin(), at_place.end(), std::int64_t(0));
    if (!sorted_) {
      std::sort(at_place.begin(), at_place.end(), [&](std::int64_t a, std::int64_t b) {
        return first[std::size_t(a)] < first[std::size_t(b)];
      });
    }
    for (std::size_t k = 0; k < groups; ++k) place[std::size_t(at_place[k])] = std::int64_t(k);
    write_slices(context, x, at_place, first);
    if (chosen_) {
      std::int64_t* chosen = context.saved(*chosen_).template data<std::int64_t>();
      for (const auto group : at_place) *chosen++ = first[std::size_t(group)];
    }
    write(context, UniqueView::Out::indices, at_place, first);
    write(context, UniqueView::Out::inverse_indices, group, place);
    write(context, UniqueView::Out::counts, at_place, count);
  }

  /// The first of equal slices gets the gradient.
  void backward(GradContext& context) override {
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    const Tensor& dy = context.grad_output(UniqueView::Out::Y);
    const std::int64_t* chosen = context.saved(*chosen_).template data<std::int64_t>();
    const std::int64_t groups = dy.shape()[axis_];
    const T* from = dy.data<T>();
    for (std::int64_t o = 0; o < slices_.outer; ++o) {
      for (std::int64_t k = 0; k < groups; ++k, from += slices_.inner) {
        const std::int64_t slice = o * slices_.size + chosen[k];
        std::copy_n(from, slices_.inner, dx.data<T>() + slice * slices_.inner);
      }
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  [[nodiscard]] int compare_slices(const T* x, std::int64_t i, std::int64_t j) const {
    for (std::int64_t o = 0; o < slices_.outer; ++o) {
      const T* block = x + o * slices_.size * slices_.inner;
      for (std::int64_t k = 0; k < slices_.inner; ++k) {
        const int difference =
            compare(Compared(block[i * slices_.inner + k]), Compared(block[j * slices_.inner + k]));
        if (difference != 0) return difference;
      }
    }
    return 0;
  }
  using Compared = std::conditional_t<std::is_same_v<T, Arithmetic<T>>, const T&, Arithmetic<T>>;

  void write_slices(OpContext& context, const T* x, std::span<const std::int64_t> groups,
                    std::span<const std::int64_t> first) {
    if (!context.wants_output(UniqueView::Out::Y)) return;
    y_.shape[axis_] = std::int64_t(groups.size());
    T* y = context.allocate(UniqueView::Out::Y, y_).template data<T>();
    for (std::int64_t o = 0; o < slices_.outer; ++o) {
      for (const auto group : groups) {
        const std::int64_t slice = o * slices_.size + first[std::size_t(group)];
        y = std::copy_n(x + slice * slices_.inner, slices_.inner, y);
      }
    }
  }

  /// Writes `values` at `places` to output i, if it is wanted.
  static void write(OpContext& context, std::size_t i, std::span<const std::int64_t> places,
                    std::span<const std::int64_t> values) {
    if (!context.wants_output(i)) return;
    const TensorDesc desc{DType::int64, Shape{std::int64_t(places.size())}};
    std::int64_t* to = context.allocate(i, desc).template data<std::int64_t>();
    for (const auto place : places) *to++ = values[std::size_t(place)];
  }

  TensorDesc y_;
  std::size_t axis_;
  Slices slices_;
  bool sorted_;
  std::optional<std::size_t> chosen_;  // saved: index in x of each slice of y
};

/// Shapes: y is x with the distinct slices along the axis; x is flattened without an axis. Slices
/// are sorted or in order of appearance. There is one index and one count per slice of y, and one
/// inverse index per slice of x.
class Unique final : public Operator {
 public:
  explicit Unique(const UniqueView& view) : axis_(view.axis()), sorted_(view.sorted() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = input(context);
    const std::size_t axis = place_of_axis(context);
    const std::int64_t size = y.shape[axis];
    y.shape[axis] = kUnknownDim;
    const TensorDesc unknown{DType::int64, Shape{kUnknownDim}};
    return {y, unknown, TensorDesc{DType::int64, Shape{size}}, unknown};
  }

  Places gradients() const override { return {0}; }

  /// At least one comparison per element.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(context.shape(0).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const TensorDesc x = input(context);
    const std::size_t axis = place_of_axis(context);
    const Slices slices{x.shape.elements(0, axis), x.shape[axis],
                        x.shape.elements(axis + 1, x.shape.rank())};
    return kernel_for(ComparedTypes{}, RealTypes{}, x.dtype, context, [&]<class T>() {
      using K = UniqueKernel<T>;
      context.request_scratch(TensorDesc{DType::int64, {K::kScratch, slices.size}}.bytes());
      return std::make_unique<K>(x, axis, slices, sorted_, context);
    });
  }

 private:
  [[nodiscard]] TensorDesc input(const InferContext& context) const {
    TensorDesc x = context.input(0);
    if (!axis_) x.shape = Shape{x.shape.elements()};
    return x;
  }
  [[nodiscard]] std::size_t place_of_axis(const InferContext& context) const {
    return axis_ ? normalize_axis(*axis_, context.shape(0).rank(), context.who()) : 0;
  }

  std::optional<std::int64_t> axis_;
  bool sorted_;
};

}  // namespace

void register_unique(OperatorRegistry& registry) { registry.add<Unique, UniqueView>(); }

}  // namespace d5::ops
