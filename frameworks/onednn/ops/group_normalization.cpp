// SPDX-License-Identifier: Apache-2.0
// Normalization of groups of channels of each sample: GroupNormalization, and
// InstanceNormalization, in which each channel is a group. It uses oneDNN's batch normalization
// with groups as channels.
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

namespace nodes = onnx::nodes;
using InstanceNormalizationIn = nodes::InstanceNormalization::In;  // for both operators

class GroupNormalization final : public OneDnnKernel {
 public:
  /// Shapes: x N,C,d...; scale and shift C.
  GroupNormalization(PlanContext& context, bool by_channel) : OneDnnKernel(context) {
    using Forward = dnnl::batch_normalization_forward::primitive_desc;
    if (context.wants_backward()) {
      throw Unsupported(context.who() + ": oneDNN has no gradient of it");
    }
    const Shape& x = context.shape(InstanceNormalizationIn::input);
    const std::int64_t groups =
        by_channel ? x[1] : nodes::GroupNormalization(context.node()).num_groups();
    const auto type = data_type(context.dtype(InstanceNormalizationIn::input));
    const Desc by_group = rows({1, x[0] * groups, x.elements() / (x[0] * groups)}, type);
    const Forward forward(engine(), dnnl::prop_kind::forward_inference, by_group, by_group,
                          nodes::InstanceNormalization(context.node()).epsilon(),  // both have it
                          dnnl::normalization_flags::none, attributes());
    const Argument y = output(0);
    forward_.add(forward, {{DNNL_ARG_SRC, input(InstanceNormalizationIn::input).as(by_group)}},
                 {{DNNL_ARG_DST, y.as(by_group)}});
    const Argument by_channels = y.as(rows({x[0], x[1], x.elements() / (x[0] * x[1])}, type));
    add_in_place(dnnl::algorithm::binary_mul, by_channels, InstanceNormalizationIn::scale);
    add_in_place(dnnl::algorithm::binary_add, by_channels, InstanceNormalizationIn::B);
  }

 private:
  void add_in_place(dnnl::algorithm algorithm, const Argument& y, std::size_t i) {
    const Argument b =
        input(i).as(rows({1, context().input(i).elements(), 1}, data_type(context().dtype(i))));
    forward_.add(
        dnnl::binary::primitive_desc(engine(), algorithm, y.desc, b.desc, y.desc, attributes()),
        {{DNNL_ARG_SRC_0, y}, {DNNL_ARG_SRC_1, b}}, {{DNNL_ARG_DST, y}});
  }
};

/// Before opset 21 a group has one scale; the standard deprecates that form.
Support scales_channels(const PlanContext& context) {
  if (context.node().opset < 21) return {"GroupNormalization before opset 21"};
  return floats(context);
}

}  // namespace

void register_group_normalization(OperatorRegistry& registry) {
  add<GroupNormalization, nodes::InstanceNormalization>(registry, floats, true);
  add<GroupNormalization, nodes::GroupNormalization>(registry, scales_channels, false);
}

}  // namespace d5::onednn
