// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/run/node_run.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level0_ops/run/memory_guard.hpp"

namespace d5 {
namespace {

/// The last individual index of `Places`.
constexpr std::size_t kLastPlace = 63;

/// `values`, with null for those that are not in `reads`.
template <class V>
std::vector<const Value*> visible(const std::vector<V*>& values, Places reads) {
  std::vector<const Value*> result(values.begin(), values.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!reads.contains(i)) result[i] = nullptr;
  }
  return result;
}

std::span<std::byte> bytes_of(Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.raw()), tensor.defined() ? tensor.bytes() : 0};
}

}  // namespace

NodeRun::NodeRun(const onnx::Node& node, const Operator& op,
                 std::vector<const OperatorRegistry*> frameworks, PlanTarget target,
                 RunServices& services, Guard guard)
    : node_(node),
      op_(op),
      frameworks_(std::move(frameworks)),
      target_(target),
      asked_(target.grad_inputs),
      captures_(!onnx::subgraphs(node).empty()),
      services_(services) {
  if (target_.device != Device{}) {
    if (guard == Guard::on) {
      throw Unsupported(fmt::format("{}: a guard checks only host memory, not {}",
                                    onnx::describe(node_), to_string(target_.device)));
    }
    stream_ = make_stream(target_.device);
  }
  if (guard == Guard::on) guard_ = std::make_unique<detail::MemoryGuard>();
}

NodeRun::NodeRun(NodeRun&&) noexcept = default;
NodeRun::~NodeRun() = default;

Tensor NodeRun::allocate(const TensorDesc& desc, std::string what) {
  return guard_ ? guard_->allocate(desc, std::move(what)) : services_.allocate(desc);
}

void NodeRun::plan(std::span<const Value* const> inputs, std::span<Value* const> outputs) {
  if (guard_) *guard_ = {};
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  std::vector<ValueDesc> descs(inputs.size());
  target_.grad_inputs = {};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs_[i] && inputs_[i]->kind() == ValueKind::none) inputs_[i] = nullptr;
    if (!inputs_[i]) continue;
    descs[i] = inputs_[i]->desc();
    const bool real = descs[i].is_tensor() && is_floating_point(descs[i].tensor.dtype);
    if (real && asked_.contains(i)) target_.grad_inputs.add(i);
  }
  for (std::size_t i = inputs.size(); captures_ && i <= kLastPlace; ++i) {
    if (asked_.contains(i)) target_.grad_inputs.add(i);
  }

  std::vector<ValueDesc> inferred = op_.infer(InferContext(node_, descs, inputs_));
  if (inferred.size() < outputs_.size()) {
    throw ShapeError(fmt::format("{}: {} outputs were requested, but there are {}",
                                 onnx::describe(node_), outputs_.size(), inferred.size()));
  }
  host_inputs_ = inputs_;
  for (auto* values : {&descs, &inferred}) {
    for (ValueDesc& desc : *values) desc.tensor.device = target_.device;
  }
  planned_outputs_.assign(outputs_.size(), nullptr);
  planned_ = {};
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!outputs_[k]) continue;
    *outputs_[k] = Value();
    if (!inferred[k].is_static()) continue;
    *outputs_[k] = allocate(inferred[k].tensor, fmt::format("output {}", k));
    planned_outputs_[k] = outputs_[k]->tensor().raw();
    planned_.add(k);
  }
  take_memory(
      first_kernel(PlanContext(op_, node_, descs, host_inputs_, inferred, target_), frameworks_));
}

void NodeRun::take_inputs() {
  if (target_.device == Device{}) return;
  device_inputs_.clear();
  for (const Value*& input : inputs_) {
    if (!input) continue;
    if (!input->is_tensor()) {
      throw Unsupported(fmt::format("{}: {} stays on the host, it cannot go to {}",
                                    onnx::describe(node_), to_string(input->desc()),
                                    to_string(target_.device)));
    }
    input = &device_inputs_.emplace_back(input->tensor().copy(target_.device));
  }
}

void NodeRun::renew_inputs() {
  if (target_.device == Device{}) return;
  synchronise();  // the kernel may still read the old values
  auto input = device_inputs_.begin();
  for (const Value* host : host_inputs_) {
    if (host) (input++)->tensor().copy_from(host->tensor());
  }
}

void NodeRun::take_memory(PlannedKernel planned) {
  take_inputs();
  kernel_ = std::move(planned.kernel);
  framework_ = planned.framework;
  scratch_ = {};
  if (planned.scratch_bytes > 0) {
    scratch_ = allocate({.dtype = DType::uint8,
                         .shape = {std::int64_t(planned.scratch_bytes)},
                         .device = target_.device},
                        "scratch memory");
  }
  saved_.clear();
  for (TensorDesc& desc : planned.saved) {
    desc.device = target_.device;
    saved_.push_back(allocate(desc, fmt::format("saved tensor {}", saved_.size())));
  }
  const KernelTraits traits = kernel_->traits();
  backward_inputs_ = visible(inputs_, traits.backward_reads_inputs);
  backward_outputs_ = visible(outputs_, traits.backward_reads_outputs);
}

void NodeRun::watch(std::span<const Value* const> values, std::string_view what) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] && values[i]->is_tensor()) {
      guard_->watch(values[i]->tensor(), fmt::format("{} {}", what, i));
    }
  }
}

void NodeRun::check_guard() {
  guard_->check(fmt::format("{}: the kernel of {}", onnx::describe(node_), framework()));
}

void NodeRun::check_outputs() const {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!planned_outputs_[k]) continue;
    const Value& value = *outputs_[k];
    if (value.is_tensor() && value.tensor().raw() == planned_outputs_[k]) continue;
    throw ContractError(fmt::format(
        "{}: the kernel of {} replaced output {}, which was planned for it; it must write to it",
        onnx::describe(node_), framework(), k));
  }
}

void NodeRun::forward() {
  OpContext context;
  context.inputs = inputs_;
  context.outputs = outputs_;
  context.planned_outputs = planned_;
  context.scratch_bytes = bytes_of(scratch_);
  context.saved_tensors = saved_;
  context.run_mode = target_.mode;
  context.run_services = &services_;
  context.run_stream = stream_.get();
  context.context_node = &node_;
  if (guard_) watch(inputs_, "input");
  kernel_->forward(context);
  if (!guard_) return;
  check_guard();
  check_outputs();
}

void NodeRun::backward(std::span<const Tensor* const> grad_outputs,
                       std::span<Tensor* const> grad_inputs) {
  if (target_.grad_inputs.empty()) {
    throw Unsupported(
        fmt::format("{}: no gradient of an input was planned", onnx::describe(node_)));
  }
  GradContext context;
  context.inputs = backward_inputs_;
  context.outputs = backward_outputs_;
  context.saved_tensors = saved_;
  context.grad_outputs = grad_outputs;
  context.grad_inputs = grad_inputs;
  context.scratch_bytes = bytes_of(scratch_);
  context.run_stream = stream_.get();
  context.context_node = &node_;
  if (guard_) {
    watch(backward_inputs_, "input");
    watch(backward_outputs_, "output");
    for (std::size_t i = 0; i < grad_outputs.size(); ++i) {
      if (grad_outputs[i]) {
        guard_->watch(*grad_outputs[i], fmt::format("the gradient of output {}", i));
      }
    }
  }
  kernel_->backward(context);
  if (guard_) check_guard();
}

}  // namespace d5
