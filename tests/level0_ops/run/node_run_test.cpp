// SPDX-License-Identifier: Apache-2.0
// The choice of a node's kernel, and the checks of its results.
#include <functional>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

/// Behaviour of a toy framework's kernel.
struct Behaviour {
  std::function<void(OpContext&)> forward = [](OpContext&) {};
  std::function<void(GradContext&)> backward = [](GradContext&) {};
  KernelTraits traits = {};
};

class BehavingKernel final : public Kernel {
 public:
  explicit BehavingKernel(Behaviour behaviour) : behaviour_(std::move(behaviour)) {}
  void forward(OpContext& context) override { behaviour_.forward(context); }
  void backward(GradContext& context) override { behaviour_.backward(context); }
  KernelTraits traits() const override { return behaviour_.traits; }

 private:
  Behaviour behaviour_;
};

void copy_input(OpContext& context) { context.output(0).copy_from(context.input(0)); }

/// y = x of a custom domain, run by whatever `behaviour` is.
class Same final : public MovingOperator {
 public:
  explicit Same(Behaviour behaviour, std::size_t scratch_bytes)
      : behaviour_(std::move(behaviour)), scratch_bytes_(scratch_bytes) {}
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  Places gradients() const override { return {0}; }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    context.request_scratch(scratch_bytes_);
    return std::make_unique<BehavingKernel>(behaviour_);
  }

 private:
  Behaviour behaviour_;
  std::size_t scratch_bytes_;
};

void run_guarded(const Behaviour& behaviour, std::size_t scratch_bytes = 0) {
  OperatorRegistry registry("toy");
  registry.add("Same", {},
               [=](const onnx::Node&) { return std::make_unique<Same>(behaviour, scratch_bytes); });
  const OperatorCase one = parse_case("Same 3");
  OperatorRunner runner(registry, one.node, one.inputs, Mode::training, Guard::on);
  runner.forward();
  runner.backward({Tensor::zeros(DType::float32, {3})});
}

/// The kernel of the first of `frameworks` for a case of the reference.
PlannedKernel choose(const std::string& line,
                     const std::vector<const OperatorRegistry*>& frameworks) {
  const OperatorCase one = parse_case(line);
  const auto op = operator_for(one.node);
  std::vector<ValueDesc> inputs;
  for (const Value& value : one.inputs) inputs.push_back(value.desc());
  const std::vector<const Value*> constants(inputs.size());
  const auto outputs = op->infer(InferContext(one.node, inputs, constants));
  return first_kernel(PlanContext(*op, one.node, inputs, constants, outputs, {}), frameworks);
}

const OperatorRegistry& reference() { return framework("reference").part<OperatorRegistry>(); }

}  // namespace

TEST_CASE("a kernel that keeps to its memory passes the guard") {
  CHECK_NOTHROW(run_guarded({.forward = copy_input, .backward = [](GradContext& context) {
                               context.grad_input(0).copy_from(context.grad_output(0));
                             }}));
}

TEST_CASE("a kernel that writes past an output is named") {
  const Behaviour behaviour{.forward = [](OpContext& context) {
    float* y = context.output(0).data<float>();
    for (int i = 0; i < 4; ++i) y[i] = 1;
  }};
  CHECK_THROWS_AS(run_guarded(behaviour), ContractError);
  CHECK_THROWS_WITH(run_guarded(behaviour),
                    Catch::Contains("Same 'output0': the kernel of toy wrote past") &&
                        Catch::Contains("output 0") && Catch::Contains("12 bytes"));
}

TEST_CASE("a kernel that writes before an output, or past scratch memory, is named") {
  CHECK_THROWS_WITH(
      run_guarded({.forward = [](OpContext& context) { context.output(0).data<float>()[-1] = 1; }}),
      Catch::Contains("output 0"));
  CHECK_THROWS_WITH(
      run_guarded({.forward = [](OpContext& context) { context.scratch_as<char>()[16] = 1; }}, 16),
      Catch::Contains("scratch memory") && Catch::Contains("16 bytes"));
  CHECK_THROWS_WITH(
      run_guarded(
          {.backward = [](GradContext& context) { context.grad_input(0).data<float>()[3] = 1; }}),
      Catch::Contains("the gradient of input 0"));
}

TEST_CASE("a kernel that changes what it may only read is named") {
  const auto spoil = [](const Tensor& tensor) { const_cast<float*>(tensor.data<float>())[0] += 1; };
  CHECK_THROWS_WITH(run_guarded({.forward = [=](OpContext& context) { spoil(context.input(0)); }}),
                    Catch::Contains("the kernel of toy changed input 0"));
  CHECK_THROWS_WITH(
      run_guarded({.backward = [=](GradContext& context) { spoil(context.grad_output(0)); }}),
      Catch::Contains("changed the gradient of output 0"));
}

TEST_CASE("a kernel that replaces an output that was planned is named") {
  CHECK_THROWS_WITH(run_guarded({.forward =
                                     [](OpContext& context) {
                                       context.set_output(0, Tensor::zeros(DType::float32, {3}));
                                     }}),
                    Catch::Contains("its kernel replaces output 0, which was planned"));
}

TEST_CASE("a kernel that asks for another output than was planned is refused before it writes") {
  OperatorRegistry registry("toy");
  bool wrote = false;
  const Behaviour behaviour{.forward = [&](OpContext& context) {
    (void)context.allocate(0, {DType::float32, {3}});  // as planned
    (void)context.allocate(0, {DType::float32, {4}});
    wrote = true;
  }};
  registry.add("Same", {}, [&](const onnx::Node&) { return std::make_unique<Same>(behaviour, 0); });
  const OperatorCase one = parse_case("Same 3");
  OperatorRunner runner(registry, one.node, one.inputs);  // without a guard
  CHECK_THROWS_AS(runner.forward(), ContractError);
  CHECK_THROWS_WITH(runner.forward(),
                    "Same 'output0': its kernel asks for float32 4 as output 0, "
                    "but infer said float32 3");
  CHECK_FALSE(wrote);
}

TEST_CASE("backward sees only what the kernel's traits name") {
  bool input = true, output = true;
  run_guarded({.forward = copy_input,
               .backward =
                   [&](GradContext& context) {
                     input = context.has_input(0);
                     output = context.outputs[0] != nullptr;
                   },
               .traits = {.backward_reads_inputs = {}, .backward_reads_outputs = {0}}});
  CHECK_FALSE(input);
  CHECK(output);
}

TEST_CASE("a check sees types and shapes") {
  OperatorRegistry narrow("narrow");
  narrow.add_kernel(
      "Relu", {},
      [](PlanContext&) { return std::make_unique<BehavingKernel>(Behaviour{copy_input}); },
      [](const PlanContext& context) {
        if (context.dtype(0) != DType::float32) {
          return Support{std::string(name_of(context.dtype(0)))};
        }
        return context.shape(0).rank() == 2 ? Support{} : Support{"rank other than 2"};
      });
  CHECK(choose("Relu 2x3", {&narrow, &reference()}).framework == &narrow);
  CHECK(choose("Relu 6", {&narrow, &reference()}).framework == &reference());
  CHECK(choose("Relu float64:2x3", {&narrow, &reference()}).framework == &reference());
  CHECK_THROWS_WITH(choose("Relu float64:2x3", {&narrow}),
                    Catch::Contains("Relu 'output0': narrow does not support float64"));
}

TEST_CASE("if planning is Unsupported, the next framework is asked, and all reasons are reported") {
  OperatorRegistry strict("strict");
  strict.add_kernel("Relu", {}, [](PlanContext& context) {
    context.request_scratch(1000);
    return kernel_for(Types<double>{}, context.dtype(0), context, []<class T>() {
      return std::make_unique<BehavingKernel>(Behaviour{copy_input});
    });
  });
  CHECK(choose("Relu float64:2", {&strict, &reference()}).framework == &strict);
  const PlannedKernel planned = choose("Relu 2", {&strict, &reference()});
  CHECK(planned.framework == &reference());
  CHECK(planned.scratch_bytes == 0);  // what the first one asked for is forgotten
  const OperatorRegistry empty("empty");
  CHECK_THROWS_AS(choose("Relu 2", {&strict, &empty}), Unsupported);
  CHECK_THROWS_WITH(
      choose("Relu 2", {&strict, &empty}),
      "Relu 'output0': strict: there is no kernel for float32; there is one for float64; "
      "empty does not support operator Relu");
}

TEST_CASE("a kernel without a meaning is refused, and the way out is named") {
  OperatorRegistry half("half");
  half.add_kernel("Half", {.domain = "org.example"}, [](PlanContext&) {
    return std::make_unique<BehavingKernel>(Behaviour{copy_input});
  });
  const OperatorCase one = parse_case("org.example.Half 3");
  CHECK_THROWS_AS(OperatorRunner(half, one.node, one.inputs), Unsupported);
  CHECK_THROWS_WITH(OperatorRunner(half, one.node, one.inputs),
                    Catch::Contains("half has a kernel for it, but no operator") &&
                        Catch::Contains("OperatorRegistry::add"));
}

TEST_CASE("an operator of ONNX that a user redefines runs with the user's kernel") {
  OperatorRegistry mine("mine");
  mine.add("Relu", {}, [](const onnx::Node&) {
    return std::make_unique<Same>(
        Behaviour{.forward = [](OpContext& context) { *context.output(0).data<float>() = 42; }}, 0);
  });
  const OperatorCase one = parse_case("Relu {1}");
  OperatorRunner runner(mine, one.node, one.inputs);
  runner.forward();
  CHECK(runner.output(0).tensor().item<float>() == 42);
}

TEST_CASE("a registry refuses a second kernel for the same versions") {
  OperatorRegistry registry("toy");
  const auto plan = [](PlanContext&) { return std::make_unique<BehavingKernel>(Behaviour{}); };
  registry.add_kernel("Relu", {.since = 6, .until = 12}, plan);
  CHECK_NOTHROW(registry.add_kernel("Relu", {.since = 13}, plan));
  CHECK_THROWS_AS(registry.add_kernel("Relu", {.since = 12}, plan), ValueError);
}
