// SPDX-License-Identifier: Apache-2.0
// Gradients in float16 and bfloat16 are those of float32, rounded.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "tests/level0_ops/case_tables.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

/// Every float32 among the inputs, as numbers that `narrow` has, in `dtype`.
std::vector<Value> inputs_in(const OperatorCase& one, DType narrow, DType dtype) {
  std::vector<Value> inputs = one.inputs;
  for (Value& input : inputs) {
    if (!input.is_tensor() || input.tensor().dtype() != DType::float32) continue;
    input = detail::converted(detail::converted(input.tensor(), narrow), dtype);
  }
  return inputs;
}

/// Gradients that arrive: numbers that `narrow` has, the same for the same output in any type.
std::vector<Tensor> arriving(const OperatorRunner& runner, DType narrow) {
  std::vector<Tensor> gradients(runner.output_count());
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const Value& output = runner.output(k);
    if (!output.is_tensor() || !is_floating_point(output.tensor().dtype())) continue;
    Tensor drawn = Tensor::empty(DType::float32, output.tensor().shape());
    RandomStream stream(1, k);
    for (float& element : drawn.span<float>()) element = float(stream.normal());
    gradients[k] = detail::converted(detail::converted(drawn, narrow), output.tensor().dtype());
  }
  return gradients;
}

/// The gradients of all inputs, or nothing where the operator does not take the type.
std::optional<std::vector<Tensor>> gradients_of(const OperatorCase& one, DType narrow,
                                                DType dtype) {
  const auto& reference = framework("reference").part<OperatorRegistry>();
  std::vector<Value> inputs = inputs_in(one, narrow, dtype);
  std::optional<OperatorRunner> runner;
  try {
    runner.emplace(reference, one.node, inputs, Mode::training, Guard::on);
    runner->forward();
  } catch (const TypeError&) {
    return {};
  }
  runner->backward(arriving(*runner, narrow));
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) gradients.push_back(runner->grad_input(i));
  return gradients;
}

/// Within some roundings of the largest: of the result, and of what backward reads of the outputs.
bool is_close(const Tensor& got, const Tensor& expected, double rounding) {
  const Tensor a = detail::converted(got, DType::float32);
  float largest = 0;
  for (const float value : expected.span<float>()) largest = std::max(largest, std::abs(value));
  return std::ranges::equal(a.span<float>(), expected.span<float>(), [&](float x, float y) {
    return x == y || std::abs(x - y) <= 4 * rounding * largest;
  });
}

}  // namespace

TEST_CASE("gradients in shorter types are those of float32, rounded") {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  const auto [narrow, rounding] =
      GENERATE(std::pair{DType::float16, 0x1p-11}, std::pair{DType::bfloat16, 0x1p-8});
  std::set<std::string> compared, unsupported;
  for (const auto& [name, row] : testing::gradient_table(source)) {
    std::uint64_t seed = 10;  // each operator's own: another changes no numbers of it
    for (const std::string& line : row.cases) {
      INFO(line << " in " << name_of(narrow));
      const OperatorCase one = parse_case(line, ++seed);
      std::optional<std::vector<Tensor>> got, expected;
      try {
        got = gradients_of(one, narrow, narrow);
        expected = gradients_of(one, narrow, DType::float32);
      } catch (const Unsupported&) {
        unsupported.insert(name);
      }
      if (!got || !expected) continue;
      for (std::size_t i = 0; i < got->size(); ++i) {
        INFO("input " << i);
        const Tensor &a = (*got)[i], &b = (*expected)[i];
        REQUIRE(a.defined() == b.defined());
        if (!a.defined() || a.dtype() != narrow) continue;
        CHECK(is_close(a, b, rounding));
        compared.insert(name);
      }
    }
  }
  CHECK(compared.size() > 100);
  // It may compute its softmax in another type than its values have.
  CHECK(unsupported == std::set<std::string>{"ai.onnx.preview.FlexAttention"});
}
