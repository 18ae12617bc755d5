// SPDX-License-Identifier: Apache-2.0
// Compares torch's operators with torch's own functions, forward and backward, on the lines of a
// file.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

// Declared here, because torch/jit.h includes all of torch's headers.
namespace torch::jit {
std::shared_ptr<CompilationUnit> compile(const std::string& source);
}

using namespace d5;

namespace {

using Tensors = std::vector<at::Tensor>;

at::ScalarType torch_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return at::kHalf;
    case DType::bfloat16:
      return at::kBFloat16;
    case DType::float32:
      return at::kFloat;
    case DType::float64:
      return at::kDouble;
    case DType::int32:
      return at::kInt;
    case DType::int64:
      return at::kLong;
    case DType::boolean:
      return at::kBool;
    default:
      FAIL("the table's tensors are of other types than " << name_of(dtype));
  }
  return {};
}

at::Tensor view(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return at::from_blob(const_cast<void*>(tensor.raw()), {dims.data(), dims.size()},
                       torch_type(tensor.dtype()));
}

/// Gradient of an output: numbers that every type can represent.
Tensor arriving_at(const Tensor& output) {
  Tensor gradient = Tensor::empty(output.dtype(), output.shape());
  const at::Tensor numbers = view(gradient).view({-1});
  constexpr double kNumbers[] = {1, -2, 0.5, 3, -0.25};
  for (std::int64_t i = 0; i < numbers.numel(); ++i) numbers[i] = kNumbers[i % 5];
  return gradient;
}

/// The results of `expression` for `inputs`, named a, b, c, ...
Tensors own_results(const std::string& expression, const Tensors& inputs) {
  std::string names;
  std::vector<c10::IValue> arguments;
  for (const at::Tensor& input : inputs) {
    if (!names.empty()) names += ", ";
    names += char('a' + arguments.size());
    arguments.emplace_back(input);
  }
  const auto unit = ::torch::jit::compile("def own(" + names + "):\n  return " + expression + "\n");
  const c10::IValue result = unit->get_function("own")(std::move(arguments));
  if (result.isTensor()) return {result.toTensor()};
  Tensors results;
  for (const c10::IValue& one : result.toTupleRef().elements()) results.push_back(one.toTensor());
  return results;
}

/// Both sides round values as large as the largest element, each in its own order.
void compare(const at::Tensor& got, const at::Tensor& expected) {
  REQUIRE(got.scalar_type() == expected.scalar_type());
  REQUIRE(got.numel() == expected.numel());
  const at::Tensor a = got.to(at::kDouble).view({-1});
  const at::Tensor b = expected.detach().to(at::kDouble).reshape({-1});
  const at::Tensor finite = b.isfinite();
  const double largest = b.masked_fill(~finite, 0).abs().max().item<double>();
  const at::ScalarType type = got.scalar_type();
  const double spacing = type == at::kHalf       ? 0x1p-10
                         : type == at::kBFloat16 ? 0x1p-7
                         : type == at::kFloat    ? 0x1p-23
                         : type == at::kDouble   ? 0x1p-52
                                                 : 0;
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    const double x = a[i].item<double>(), y = b[i].item<double>();
    INFO("element " << i << " is " << x << ", torch's own " << y);
    const bool same = std::isnan(y)   ? std::isnan(x)
                      : std::isinf(y) ? x == y
                                      : std::abs(x - y) <= 4 * spacing * largest;
    if (!same) FAIL_CHECK("they differ");
  }
}

/// Runs both sides, forward and backward.
void compare(const OperatorCase& one, const std::string& expression) {
  OperatorRunner runner(framework("torch").part<OperatorRegistry>(), one.node, one.inputs,
                        Mode::training);
  Tensors inputs;
  for (const Value& input : one.inputs) {
    if (!input.is_tensor()) continue;
    inputs.push_back(view(input.tensor()).clone());
    if (inputs.back().is_floating_point()) inputs.back().set_requires_grad(true);
  }
  const Tensors expected = own_results(expression, inputs);
  runner.forward();
  REQUIRE(expected.size() <= runner.output_count());
  std::vector<Tensor> arriving(runner.output_count());
  Tensors outputs, gradients, leaves;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    INFO("output " << k);
    const Tensor& output = runner.output(k).tensor();
    compare(view(output), expected[k]);
    if (k > 0 || !expected[k].requires_grad()) continue;
    arriving[k] = arriving_at(output);
    outputs.push_back(expected[k]);
    gradients.push_back(view(arriving[k]).reshape(expected[k].sizes()));
  }
  if (outputs.empty()) return;
  runner.backward(arriving);
  for (const at::Tensor& input : inputs) {
    if (input.requires_grad()) leaves.push_back(input);
  }
  const Tensors slopes = ::torch::autograd::grad(outputs, leaves, gradients, std::nullopt,
                                                 /*create_graph=*/false, /*allow_unused=*/true);
  std::size_t leaf = 0, place = 0;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (!one.inputs[i].is_tensor() || !inputs[place++].requires_grad()) continue;
    const at::Tensor& slope = slopes[leaf++];
    const Tensor& got = runner.grad_input(i);
    if (!got.defined()) continue;  // no gradient by the standard
    INFO("gradient of input " << i);
    compare(view(got), slope.defined() ? slope : at::zeros_like(leaves[leaf - 1]));
  }
}

/// TorchScript calls each function unchanged during its lifetime.
struct AsWritten {
  AsWritten() { ::torch::jit::setGraphExecutorOptimize(false); }
  ~AsWritten() { ::torch::jit::setGraphExecutorOptimize(optimized); }
  bool optimized = ::torch::jit::getGraphExecutorOptimize();
};

}  // namespace

TEST_CASE("torch's operators answer what torch's own functions do, and so do their gradients") {
  const AsWritten as_written;
  const std::string separator = " | ";
  std::ifstream table(D5_TORCH_TEST_DIR "/own_functions.txt");
  REQUIRE(table);
  for (std::string row; std::getline(table, row);) {
    if (row.empty() || row.front() == '#') continue;
    const auto end = row.find(separator);
    INFO(row);
    REQUIRE(end != std::string::npos);
    for (const CaseLine& line : expand_case(row.substr(0, end), 1)) {
      INFO(line.line);
      try {
        compare(line.draw(), row.substr(end + separator.size()));
      } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
}
