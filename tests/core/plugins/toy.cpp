// SPDX-License-Identifier: Apache-2.0
// The device "toy" and a framework of six operators on it: those of LeNet. They compute what the
// reference computes, bit for bit, on memory and in a thread that the host cannot reach.
#include "core/plugins/toy_memory.hpp"
#include "d5/core/entries/plugin.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::toy {
namespace {

TensorDesc on_host(TensorDesc desc) {
  desc.device = {};
  return desc;
}

/// The device's tensors as the thread of the stream may touch them.
class Reach {
 public:
  explicit Reach(Memory& memory) : memory_(memory) {}
  Tensor of(const Tensor& seen) const {
    return Tensor::borrow(on_host(seen.desc()),
                          seen.bytes() == 0 ? nullptr : memory_.real(seen.raw()), seen.owner());
  }
  std::span<std::byte> of(std::span<std::byte> seen) const {
    return seen.empty() ? seen : std::span(memory_.real(seen.data()), seen.size());
  }

 private:
  Memory& memory_;
};

/// The values of a context, copied when the work is queued.
struct Values {
  explicit Values(std::span<const Value* const> pointers) {
    for (const Value* value : pointers) values.push_back(value ? *value : Value());
  }
  void reach(const Reach& reach) {
    for (Value& value : values) {
      if (value.is_tensor()) value = reach.of(value.tensor());
      pointers.push_back(value.kind() == ValueKind::none ? nullptr : &value);
    }
  }
  std::vector<Value> values;
  std::vector<Value*> pointers;
};
struct Tensors {
  template <class Pointers>
  explicit Tensors(const Pointers& pointers) {
    for (const Tensor* tensor : pointers) tensors.push_back(tensor ? *tensor : Tensor());
  }
  void reach(const Reach& reach) {
    for (Tensor& tensor : tensors) {
      if (tensor.defined()) tensor = reach.of(tensor);
      pointers.push_back(tensor.defined() ? &tensor : nullptr);
    }
  }
  std::vector<Tensor> tensors;
  std::vector<Tensor*> pointers;
};

class ToyKernel final : public Kernel {
 public:
  ToyKernel(std::shared_ptr<Kernel> host, Memory& memory)
      : host_(std::move(host)), memory_(memory) {}

  void forward(OpContext& context) override {
    auto inputs = std::make_shared<Values>(context.inputs);
    auto outputs = std::make_shared<Values>(context.outputs);
    std::vector<Tensor> saved(context.saved_tensors.begin(), context.saved_tensors.end());
    queue(context, [=, host = host_, &memory = memory_, late = context]() mutable {
      const Reach reach(memory);
      inputs->reach(reach);
      outputs->reach(reach);
      for (Tensor& tensor : saved) tensor = reach.of(tensor);
      const std::vector<const Value*> read(inputs->pointers.begin(), inputs->pointers.end());
      late.inputs = read;
      late.outputs = outputs->pointers;
      late.saved_tensors = saved;
      late.scratch_bytes = reach.of(late.scratch_bytes);
      late.run_stream = &host_stream();
      host->forward(late);
    });
  }

  void backward(GradContext& context) override {
    auto inputs = std::make_shared<Values>(context.inputs);
    auto outputs = std::make_shared<Values>(context.outputs);
    auto grad_outputs = std::make_shared<Tensors>(context.grad_outputs);
    auto grad_inputs = std::make_shared<Tensors>(context.grad_inputs);
    std::vector<Tensor> saved(context.saved_tensors.begin(), context.saved_tensors.end());
    queue(context, [=, host = host_, &memory = memory_, late = context]() mutable {
      const Reach reach(memory);
      for (auto* part : {inputs.get(), outputs.get()}) part->reach(reach);
      for (auto* part : {grad_outputs.get(), grad_inputs.get()}) part->reach(reach);
      for (Tensor& tensor : saved) tensor = reach.of(tensor);
      const std::vector<const Value*> read(inputs->pointers.begin(), inputs->pointers.end());
      const std::vector<const Value*> written(outputs->pointers.begin(), outputs->pointers.end());
      const std::vector<const Tensor*> given(grad_outputs->pointers.begin(),
                                             grad_outputs->pointers.end());
      late.inputs = read;
      late.outputs = written;
      late.saved_tensors = saved;
      late.grad_outputs = given;
      late.grad_inputs = grad_inputs->pointers;
      late.scratch_bytes = reach.of(late.scratch_bytes);
      late.run_stream = &host_stream();
      host->backward(late);
    });
  }

  KernelTraits traits() const override { return host_->traits(); }

 private:
  template <class Context, class Task>
  static void queue(const Context& context, Task task) {
    static_cast<LateStream&>(context.stream()).push(std::move(task));
  }

  std::shared_ptr<Kernel> host_;
  Memory& memory_;
};

std::unique_ptr<Kernel> plan(PlanContext& context, Memory& memory) {
  std::vector<ValueDesc> inputs, outputs;
  std::vector<const Value*> constants;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(context.has_input(i) ? ValueDesc(on_host(context.input(i))) : ValueDesc());
    constants.push_back(context.constant_value(i));
  }
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    outputs.push_back(context.wants_output(k) ? ValueDesc(on_host(context.output(k)))
                                              : ValueDesc());
  }
  Places wanted;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.wants_grad(i)) wanted.add(i);
  }
  PlanContext host(context.op(), context.node(), inputs, constants, outputs,
                   {.mode = context.mode(), .grad_inputs = wanted});
  auto kernel = context.op().plan(host);
  context.request_scratch(host.scratch_bytes());
  for (const TensorDesc& desc : host.saved()) context.save(desc);
  return std::make_unique<ToyKernel>(std::move(kernel), memory);
}

template <class... Views>
void add_kernels(OperatorRegistry& registry, const std::shared_ptr<ToyMemory>& memory) {
  const auto make = [memory](PlanContext& context) { return plan(context, memory->memory()); };
  (registry.add_kernel<Views>(make, {}, memory->kind), ...);
}

void fill(Framework& framework) {
  namespace nodes = onnx::nodes;
  const auto memory = std::make_shared<ToyMemory>();
  memory->kind = add_device(framework, "toy", memory);
  add_kernels<nodes::Conv, nodes::Relu, nodes::MaxPool, nodes::Flatten, nodes::Gemm,
              nodes::SoftmaxCrossEntropyLoss>(framework.part<OperatorRegistry>(), memory);
}

}  // namespace
}  // namespace d5::toy

D5_FRAMEWORK_PLUGIN("toy", "1.0", d5::toy::fill)
