// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using ConcatView = onnx::nodes::Concat;

class Concat final : public OneDnnKernel {
 public:
  explicit Concat(PlanContext& context) : OneDnnKernel(context) {
    const auto axis = normalize_axis(ConcatView(context.node()).axis().value_or(1),
                                     context.output(0).shape.rank(), context.who());
    std::vector<Desc> descs;
    std::vector<Pass::Bound> reads;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      reads.push_back({DNNL_ARG_MULTIPLE_SRC + int(i), input_as_found(i)});
      descs.push_back(reads.back().argument.desc);
    }
    const Desc y = rows(context.output(0));
    const dnnl::concat::primitive_desc forward(engine(), any(y), int(axis), descs, attributes());
    forward_.add(forward, reads, {{DNNL_ARG_DST, output_in(0, forward.dst_desc())}});
    Dims offset(descs[0].get_dims().size(), 0);
    for (std::size_t i = 0; i < descs.size(); ++i) {
      const Dims part = descs[i].get_dims();
      if (context.wants_grad(i)) {
        backward_.reorder(grad_output(0).as(y.submemory_desc(part, offset)), grad_input(i));
      }
      offset[axis] += part[axis];
    }
    traits_.backward_reads_inputs = {};
  }
};

}  // namespace

void register_concat(OperatorRegistry& registry) { add<Concat, ConcatView>(registry, numbers); }

}  // namespace d5::onednn
