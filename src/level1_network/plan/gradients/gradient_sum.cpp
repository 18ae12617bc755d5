// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/gradients/gradient_sum.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5 {

void add_on_host(Tensor& into, const Tensor& term) {
  if (!is_floating_point(into.dtype())) return;
  dispatch(FloatTypes{}, into.dtype(), "sum of gradients", [&]<class T>() {
    T* a = into.data<T>();
    const T* b = term.data<T>();
    for (std::int64_t i = 0, n = into.elements(); i < n; ++i) {
      a[i] = T(Arithmetic<T>(a[i]) + Arithmetic<T>(b[i]));
    }
  });
}

GradientSum::GradientSum(Tensor& into, const Tensor& term, Device device, Frameworks frameworks)
    : into_(into), term_(term), device_(device) {
  if (device_ == Device{}) return;
  plan_kernel(into.desc(), frameworks);
  if (kernel_) return;
  TensorDesc host = into.desc();
  host.device = {};
  host_into_ = Tensor::empty(host);
  host_term_ = Tensor::empty(host);
}

void GradientSum::plan_kernel(const TensorDesc& desc, Frameworks frameworks) {
  using Add = onnx::nodes::Add;
  node_.name = "sum of gradients";
  node_.op_type = Add::kName;
  node_.opset = Add::kSinceVersions.back();
  node_.inputs = {"into", "term"};
  node_.outputs = {"into"};
  op_ = operator_for(node_);
  const std::array<ValueDesc, 2> inputs{desc, desc};
  const std::array<ValueDesc, 1> outputs{desc};
  const std::array<const Value*, 2> constants{};
  const PlanContext plan(*op_, node_, inputs, constants, outputs, {.device = device_});
  std::string reasons;
  PlannedKernel planned = first_kernel(plan, frameworks, reasons);
  // The sum runs in place and without scratch memory, or through the host.
  if (!planned.kernel || planned.scratch_bytes > 0 ||
      planned.kernel->traits().in_place_output != 0) {
    return;
  }
  kernel_ = std::move(planned.kernel);
  into_value_ = into_;
  term_value_ = term_;
  inputs_ = {&into_value_, &term_value_};
  outputs_ = {&into_value_};
  context_.inputs = inputs_;
  context_.outputs = outputs_;
  context_.context_node = &node_;
}

void GradientSum::run(Stream& stream) {
  if (device_ == Device{}) {
    add_on_host(into_, term_);
  } else if (kernel_) {
    context_.run_stream = &stream;
    kernel_->forward(context_);
  } else {
    run_through_host(stream);
  }
}

void GradientSum::run_through_host(Stream& stream) {
  queue_copy(host_into_, into_, stream);
  queue_copy(host_term_, term_, stream);
  stream.synchronise();
  add_on_host(host_into_, host_term_);
  queue_copy(into_, host_into_, stream);
  stream.synchronise();  // the room is used again
}

}  // namespace d5
