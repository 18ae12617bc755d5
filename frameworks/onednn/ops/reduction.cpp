// SPDX-License-Identifier: Apache-2.0
// Table of the reductions along some axes.
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

struct Function {
  Algorithm algorithm;
  float p = 0;  ///< exponent of norms
};

/// The input's sizes, with 1 along the reduced axes; all axes if none is given.
Dims reduced_dims(const PlanContext& context, const IntegersInput& axes) {
  Dims dims = dims_of(context.shape(0));
  if (!axes.given() || axes.values().empty()) return Dims(dims.size(), 1);
  for (const std::int64_t axis : axes.values()) {
    dims[normalize_axis(axis, context.shape(0).rank(), context.who())] = 1;
  }
  return dims;
}

class Reduction final : public OneDnnKernel {
 public:
  Reduction(PlanContext& context, Function function) : OneDnnKernel(context) {
    const nodes::ReduceSum view(context.node());  // the attributes of all of them
    const Argument x = input(0);
    const IntegersInput axes = context.integers(1, view.axes());
    const Dims dims = reduced_dims(context, axes);
    const bool names_none = !axes.given() || axes.values().empty();
    if ((names_none && view.noop_with_empty_axes() != 0) || dims == x.desc.get_dims()) {
      throw Unsupported(context.who() + ": there is nothing to reduce");
    }
    const Argument y = output(0).as(rows(dims, x.desc.get_data_type()));
    forward_.add(dnnl::reduction::primitive_desc(engine(), function.algorithm, x.desc, y.desc,
                                                 function.p, 0, attributes()),
                 {{DNNL_ARG_SRC, x}}, {{DNNL_ARG_DST, y}});
    if (context.wants_grad(0)) add_backward(function.algorithm, x, y);
  }

 private:
  /// Gradient of sums and means: broadcasts dy over dx, divided by the count for a mean.
  void add_backward(Algorithm algorithm, const Argument& x, const Argument& y) {
    if (algorithm != Algorithm::reduction_sum && algorithm != Algorithm::reduction_mean) {
      throw Unsupported(context().who() + ": oneDNN has no gradient of it");
    }
    traits_.backward_reads_inputs = {};
    Argument dy = grad_output(0).as(y.desc);
    if (algorithm == Algorithm::reduction_mean) {
      const auto share =
          float(double(context().output(0).elements()) / double(context().input(0).elements()));
      const Argument part = backward_.scratch(y.desc);
      add_sum_to(backward_, dy, part, share);
      dy = part;
    }
    const Dims dims = x.desc.get_dims();
    Dims strides = y.desc.get_strides();
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (y.desc.get_dims()[i] != dims[i]) strides[i] = 0;
    }
    backward_.reorder(dy.as(Desc(dims, x.desc.get_data_type(), strides)), grad_input(0));
  }
};

Support reduces_floats(const PlanContext& context) { return floats(context, {0}); }

template <class View>
void add_reduction(OperatorRegistry& registry, Function function) {
  add<Reduction, View>(registry, reduces_floats, function);
}

}  // namespace

void register_reduction(OperatorRegistry& registry) {
  using A = Algorithm;
  add_reduction<nodes::ReduceSum>(registry, {A::reduction_sum});
  add_reduction<nodes::ReduceMean>(registry, {A::reduction_mean});
  add_reduction<nodes::ReduceProd>(registry, {A::reduction_mul});
  add_reduction<nodes::ReduceMax>(registry, {A::reduction_max});
  add_reduction<nodes::ReduceMin>(registry, {A::reduction_min});
  add_reduction<nodes::ReduceL1>(registry, {A::reduction_norm_lp_sum, 1});
  add_reduction<nodes::ReduceL2>(registry, {A::reduction_norm_lp_sum, 2});
  add_reduction<nodes::ReduceSumSquare>(registry, {A::reduction_norm_lp_power_p_sum, 2});
}

}  // namespace d5::onednn
