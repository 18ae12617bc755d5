// SPDX-License-Identifier: Apache-2.0
// A framework with a fault of its own in each operator; Identity has none.
#include <csignal>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "d5/core/entries/plugin.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace {

using d5::OpContext;

float* data(const d5::Tensor& tensor) {
  return static_cast<float*>(const_cast<void*>(tensor.raw()));  // writable, even if it is an input
}
float* input(OpContext& context) { return data(context.input(0)); }
float* output(OpContext& context) { return data(context.output(0)); }
std::size_t elements(OpContext& context) { return std::size_t(context.input(0).elements()); }

void identity(OpContext& context) {
  std::memcpy(output(context), input(context), context.input(0).bytes());
}
void throws(OpContext&) { throw std::runtime_error("out of luck"); }
void throws_number(OpContext&) { throw 42; }
void gives_another_shape(OpContext& context) {
  *context.outputs[0] = d5::Tensor::zeros(d5::DType::float32, {context.input(0).elements() + 1});
}
void allocates_another_shape(OpContext& context) {
  context.allocate(0, {.dtype = d5::DType::int64, .shape = {1, 1}}).span<std::int64_t>()[0] = 0;
}
void gives_nan(OpContext& context) { output(context)[0] = std::numeric_limits<float>::quiet_NaN(); }
void writes_before(OpContext& context) { output(context)[-1] = 7; }
void writes_past(OpContext& context) { output(context)[elements(context)] = 7; }
void writes_far(OpContext& context) { output(context)[std::size_t{1} << 18] = 7; }  // 1 MiB
void reads_far(OpContext& context) { output(context)[0] = input(context)[-(1 << 18)]; }
void changes_its_input(OpContext& context) { input(context)[0] += 1; }
void crashes(OpContext&) { std::raise(SIGSEGV); }
void aborts(OpContext&) { std::abort(); }

class FaultyKernel final : public d5::Kernel {
 public:
  explicit FaultyKernel(void (*run)(OpContext&)) : run_(run) {}
  void forward(OpContext& context) override { run_(context); }
  void backward(d5::GradContext&) override { throw 42; }

 private:
  void (*run_)(OpContext&);
};

constexpr struct {
  const char* op;
  void (*run)(OpContext&);
} kFaults[] = {{"Identity", identity},
               {"Relu", throws},
               {"Tanh", throws_number},
               {"Sigmoid", gives_another_shape},
               {"NonZero", allocates_another_shape},
               {"Abs", gives_nan},
               {"Neg", writes_before},
               {"Exp", writes_past},
               {"Sinh", writes_far},
               {"Cosh", reads_far},
               {"Floor", changes_its_input},
               {"Ceil", crashes},
               {"Round", aborts}};

void fill(d5::Framework& framework) {
  auto& registry = framework.part<d5::OperatorRegistry>();
  for (const auto& [op, run] : kFaults) {
    registry.add_kernel(op, {},
                        [run](d5::PlanContext&) { return std::make_unique<FaultyKernel>(run); });
  }
  registry.add_kernel("Sin", {}, [](d5::PlanContext&) -> std::unique_ptr<d5::Kernel> { throw 42; });
  registry.add_kernel("Cos", {}, [](d5::PlanContext&) -> std::unique_ptr<d5::Kernel> {
    throw std::runtime_error("no plan");
  });
}

}  // namespace

D5_FRAMEWORK_PLUGIN("misbehaving", "1", fill)
