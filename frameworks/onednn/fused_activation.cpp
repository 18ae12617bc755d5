// SPDX-License-Identifier: Apache-2.0
#include "fused_activation.hpp"

#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {

using Algorithm = dnnl::algorithm;

FusedActivation::FusedActivation(const PlanContext& context) {
  const onnx::Node& node = context.node();
  const auto* name = node.attribute<std::string>("activation");
  if (!name) return;
  const auto parameter = [&](std::size_t i, const char* attribute, float otherwise) {
    const auto* all = node.attribute<std::vector<float>>("activation_params");
    if (all && i < all->size()) return (*all)[i];
    const auto* one = node.attribute<float>(attribute);
    return one ? *one : otherwise;
  };
  if (*name == "Relu") {
    forward_ = Algorithm::eltwise_relu;
    backward_ = Algorithm::eltwise_relu_use_dst_for_bwd;
  } else if (*name == "Tanh") {
    forward_ = Algorithm::eltwise_tanh;
    backward_ = Algorithm::eltwise_tanh_use_dst_for_bwd;
  } else if (*name == "Sigmoid") {
    forward_ = Algorithm::eltwise_logistic;
    backward_ = Algorithm::eltwise_logistic_use_dst_for_bwd;
  } else if (*name == "LeakyRelu") {
    forward_ = Algorithm::eltwise_relu;
    alpha_ = parameter(0, "activation_alpha", 0.01f);
  } else if (*name == "HardSigmoid") {
    forward_ = Algorithm::eltwise_hardsigmoid;
    alpha_ = parameter(0, "activation_alpha", 0.2f);
    beta_ = parameter(1, "activation_beta", 0.5f);
  } else {
    throw Unsupported(context.who() + ": oneDNN does not fuse " + *name);
  }
  if (context.wants_backward() && backward_ == Algorithm::undef) {
    throw Unsupported(context.who() + ": the slope of " + *name +
                      " cannot be computed from its output, and only the output is kept");
  }
}

void FusedActivation::append_to(dnnl::post_ops& post_ops) const {
  if (!is_none()) post_ops.append_eltwise(forward_, alpha_, beta_);
}

Argument FusedActivation::differentiate(Pass& backward, const Argument& y,
                                        const Argument& dy) const {
  if (is_none()) return dy;
  const dnnl::eltwise_forward::primitive_desc forward(engine(), dnnl::prop_kind::forward_training,
                                                      backward_, y.desc, y.desc, alpha_, beta_,
                                                      attributes());
  const Argument result = backward.scratch(dy.desc);
  backward.add(dnnl::eltwise_backward::primitive_desc(engine(), backward_, dy.desc, dy.desc, y.desc,
                                                      alpha_, beta_, forward, attributes()),
               {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}}, {{DNNL_ARG_DIFF_SRC, result}});
  return result;
}

}  // namespace d5::onednn
