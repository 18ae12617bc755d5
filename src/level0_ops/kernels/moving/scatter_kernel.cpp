// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/moving/scatter_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "level0_ops/kernels/accumulator.hpp"
#include "level0_ops/kernels/elementwise/element_function.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::detail {
namespace {

// A reduction has `value(element, update)`. Slopes are declared if they are 1 for the update and
// constant for the element; otherwise there is a `slope` along each x that was reduced to y, from a
// tally over all x.

/// The result of several updates to one element is undefined: each gets the whole gradient.
struct Replace {
  static constexpr double kSlopeOfElement = 0;
  template <class T>
  static T value(const T&, const T& update) {
    return update;
  }
};

struct Add {
  static constexpr double kSlopeOfElement = 1;
  template <class T>
  static T value(T a, T b) {
    return T(Wrapping<T>(a) + Wrapping<T>(b));
  }
};

/// The slope is the product of all others, also correct for zeros.
struct Multiply {
  template <class T>
  static T value(T a, T b) {
    return T(Wrapping<T>(a) * Wrapping<T>(b));
  }
  struct Tally {
    double product = 1;  // product of the nonzero factors
    double zeros = 0;    // number of zeros
    void add(double x, double) {
      if (x == 0) {
        zeros += 1;
      } else {
        product *= x;
      }
    }
    [[nodiscard]] double slope(double x, double) const {
      return zeros == 0 ? product / x : zeros == 1 && x == 0 ? product : 0.0;
    }
  };
};

/// NaN wins. The gradient is divided equally among the elements with the extreme value.
template <bool largest>
struct Extreme {
  template <class T>
  static T value(T a, T b) {
    return (largest ? a > b : a < b) || a != a ? a : b;
  }
  struct Tally {
    double holders = 0;
    void add(double x, double y) { holders += double(x == y); }
    [[nodiscard]] double slope(double x, double y) const { return x == y ? 1 / holders : 0.0; }
  };
};

template <class F>
concept HasTally = requires { typename F::Tally; };

template <class T, class F>
class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(const PlanContext& context, IndexedPlaces indexed)
      : dtype_(context.dtype(0)),
        elements_(context.shape(0).elements()),
        indexed_(std::move(indexed)) {}

  /// Scratch of backward: the places, followed by a tally per element of the data.
  static std::size_t backward_scratch(const PlanContext& context, const IndexedPlaces& indexed) {
    if constexpr (HasTally<F>) {
      return indexed.scratch_bytes() +
             std::size_t(context.shape(0).elements()) * sizeof(typename F::Tally);
    } else {
      return indexed.scratch_bytes();
    }
  }

  void forward(OpContext& context) override {
    auto* places = context.scratch_as<std::int64_t>();
    indexed_.find(context.input(1), context.node(), places);
    Tensor& out = context.output(0);
    copy_elements(dtype_, out.raw(), context.input(0).raw(), elements_);
    T* y = static_cast<T*>(out.raw());
    const T* update = static_cast<const T*>(context.input(2).raw());
    indexed_.visit(places, [=](auto place, auto i) {
      y[place] = T(F::value(arithmetic(y[place]), arithmetic(update[i])));
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      auto* places = context.scratch_as<std::int64_t>();
      indexed_.find(context.input(1), context.node(), places);
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.wants_grad(0) ? context.grad_input(0).data<T>() : nullptr;
      T* du = context.wants_grad(2) ? context.grad_input(2).data<T>() : nullptr;
      if constexpr (HasTally<F>) {
        by_tally(context, places, dy, dx, du);
      } else {
        if (dx) std::copy_n(dy, elements_, dx);
        if (dx && F::kSlopeOfElement == 0) {
          indexed_.visit(places, [=](auto place, auto) { dx[place] = T(0); });
        }
        if (du) indexed_.visit_any(places, [=](auto place, auto i) { du[i] = dy[place]; });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = HasTally<F> ? Places{0, 1, 2} : Places{1},
            .backward_reads_outputs = HasTally<F> ? Places{0} : Places{},
            .in_place_output = 0};
  }

 private:
  void by_tally(GradContext& context, const std::int64_t* places, const T* dy, T* dx, T* du) const
    requires HasTally<F>
  {
    const T *x = context.input(0).data<T>(), *u = context.input(2).data<T>();
    const T* y = context.output(0).data<T>();
    auto* tallies =
        reinterpret_cast<typename F::Tally*>(context.scratch().data() + indexed_.scratch_bytes());
    for (std::int64_t i = 0; i < elements_; ++i) {
      tallies[i] = {};
      tallies[i].add(x[i], y[i]);
    }
    indexed_.visit(places, [=](auto place, auto i) { tallies[place].add(u[i], y[place]); });
    if (dx) {
      for (std::int64_t i = 0; i < elements_; ++i) {
        dx[i] = T(dy[i] * tallies[i].slope(x[i], y[i]));
      }
    }
    if (du) {
      indexed_.visit_any(places, [=](auto place, auto i) {
        du[i] = T(dy[place] * tallies[place].slope(u[i], y[place]));
      });
    }
  }

  DType dtype_;
  std::int64_t elements_;
  IndexedPlaces indexed_;
};

using OrderedTypes = Join<NumberTypes, Types<bool>>;
using RingTypes = Join<OrderedTypes, Types<std::complex<float>, std::complex<double>>>;

template <class F, class List>
std::unique_ptr<Kernel> plan_as(PlanContext& context, IndexedPlaces indexed) {
  return kernel_for(List{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
    using K = ScatterKernel<T, F>;
    if (context.wants_backward()) context.request_scratch(K::backward_scratch(context, indexed));
    return std::make_unique<K>(context, std::move(indexed));
  });
}

/// Small floats are added or multiplied in float, and rounded once.
template <class F>
std::unique_ptr<Kernel> plan_in_ring(PlanContext& context, IndexedPlaces indexed) {
  if (is_wide(context)) return plan_as<F, RingTypes>(context, std::move(indexed));
  return widening_kernel(
      context, [&](PlanContext& wide) { return plan_as<F, RealTypes>(wide, std::move(indexed)); });
}

}  // namespace

ScatterReduction scatter_reduction(std::string_view word, const onnx::Node& node) {
  if (word == "none") return ScatterReduction::none;
  if (word == "add") return ScatterReduction::add;
  if (word == "mul") return ScatterReduction::mul;
  if (node.opset >= 18) {
    if (word == "max") return ScatterReduction::max;
    if (word == "min") return ScatterReduction::min;
  }
  throw ValueError(fmt::format("{}: reduction is {}, expected none, add, mul{} in opset {}",
                               onnx::describe(node), printable(word),
                               node.opset >= 18 ? ", max, min" : "", node.opset));
}

std::unique_ptr<Kernel> plan_scatter(PlanContext& context, IndexedPlaces indexed,
                                     ScatterReduction reduction) {
  context.request_scratch(indexed.scratch_bytes());
  switch (reduction) {
    case ScatterReduction::add:
      return plan_in_ring<Add>(context, std::move(indexed));
    case ScatterReduction::mul:
      return plan_in_ring<Multiply>(context, std::move(indexed));
    case ScatterReduction::max:
      return plan_as<Extreme<true>, OrderedTypes>(context, std::move(indexed));
    case ScatterReduction::min:
      return plan_as<Extreme<false>, OrderedTypes>(context, std::move(indexed));
    case ScatterReduction::none:
      break;
  }
  return moving_kernel_for(context.dtype(0), context, [&]<class T>() {
    return std::make_unique<ScatterKernel<T, Replace>>(context, std::move(indexed));
  });
}

}  // namespace d5::detail
