// SPDX-License-Identifier: Apache-2.0
// ReduceProd: the product along some axes.
#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/reduction.hpp"

namespace d5::ops {
namespace {

using MultipliedTypes =
    Join<FloatTypes, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;

struct ProdReduction {
  template <class T>
  struct State {
    std::conditional_t<std::is_integral_v<T>, std::uint64_t, double> product = 1;
  };
  template <class T>
  static void next(State<T>& state, T x) {
    state.product *= decltype(state.product)(x);
  }
  template <class T>
  static T result(const State<T>& state, std::int64_t) {
    return T(state.product);
  }
};

/// The slope of an element is the product of all others, right for zeros too.
class ReduceProd final : public detail::Reduction {
 public:
  using Reduction::Reduction;

  void plan(PlanContext& context) override {
    Reduction::plan(context);
    if (context.mode() == Mode::training && context.value(0).is_static()) {
      context.request_scratch(std::size_t(context.input(0).elements()) * sizeof(Factors));
    }
  }

  void forward(OpContext& context) override {
    resolve_axes(context);
    const Tensor& x = context.input(0);
    dispatch(MultipliedTypes{}, x.dtype(), "ReduceProd",
             [&]<class T>() { reduce<ProdReduction, T>(x, context.output(0)); });
  }

  void backward(GradContext& context) override {
    const Tensor& x = context.input(0);
    const Shape kept = kept_shape(x.shape());
    const auto loop = detail::broadcast_loop(x.shape(), {&kept});
    const std::int64_t step = loop.step(1);
    dispatch(RealTypes{}, x.dtype(), "ReduceProd", [&]<class T>() {
      const T *in = x.data<T>(), *dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      Factors* factors = context.scratch_as<Factors>();
      std::fill_n(factors, kept.elements(), Factors{});
      loop.run_in_order([=](const detail::StridedLoop::Offsets& at, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
          Factors& f = factors[at[1] + i * step];
          const double value = in[at[0] + i];
          if (value == 0) {
            f.zeros += 1;
          } else {
            f.product *= value;
          }
        }
      });
      loop.run([=](const detail::StridedLoop::Offsets& at, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
          const std::int64_t from = at[1] + i * step;
          const Factors& f = factors[from];
          const double value = in[at[0] + i];
          const double others = f.zeros == 0                 ? f.product / value
                                : f.zeros == 1 && value == 0 ? f.product
                                                             : 0.0;
          dx[at[0] + i] = T(double(dy[from]) * others);
        }
      });
    });
  }

  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  struct Factors {
    double product = 1;  // of those that are not zero
    double zeros = 0;    // how many are
  };
};

}  // namespace

void register_reduce_prod(OperatorRegistry& registry) { registry.add<ReduceProd>("ReduceProd"); }

}  // namespace d5::ops
