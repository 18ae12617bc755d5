// SPDX-License-Identifier: Apache-2.0
// Reductions along some axes: a table. oneDNN has no gradients of them.
#include "d5/core/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

struct Function {
  Algorithm algorithm;
  float p = 0;                        ///< of norms
  Algorithm then = Algorithm::undef;  ///< of what is reduced
};

/// The input's sizes, with 1 along the reduced axes: all of them where none is named.
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
    if (context.wants_backward()) {
      throw Unsupported(context.who() + ": oneDNN has no gradients of reductions");
    }
    const nodes::ReduceSum view(context.node());  // the attributes of all of them
    const Argument x = input(0);
    const IntegersInput axes = context.integers(1, view.axes());
    const Dims dims = reduced_dims(context, axes);
    const bool names_none = !axes.given() || axes.values().empty();
    if ((names_none && view.noop_with_empty_axes() != 0) || dims == x.desc.get_dims()) {
      throw Unsupported(context.who() + ": there is nothing to reduce");
    }
    const Argument y = output(0).as(rows(dims, x.desc.get_data_type()));
    dnnl::post_ops then;
    if (function.then != Algorithm::undef) then.append_eltwise(function.then, 0, 0);
    forward_.add(dnnl::reduction::primitive_desc(engine(), function.algorithm, x.desc, y.desc,
                                                 function.p, 0, attributes(then)),
                 {{DNNL_ARG_SRC, x}}, {{DNNL_ARG_DST, y}});
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
  add_reduction<nodes::ReduceLogSum>(registry, {A::reduction_sum, 0, A::eltwise_log});
}

}  // namespace d5::onednn
