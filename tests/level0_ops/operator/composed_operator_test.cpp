// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/composed_operator.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using detail::Composition;
using detail::Term;
using Floats = std::vector<float>;

namespace {

/// y0 = x x + x + b, y1 = x x
class Polynomial final : public detail::ComposedOperator {
 public:
  Places gradients() const override { return {0, 1}; }

 protected:
  void compose(Composition& c) const override {
    const Term x = c.input(0), square = c.add("Mul", {x, x});
    Term y = c.add("Add", {square, x});
    if (const Term b = c.input(1)) y = c.add("Add", {y, b});
    c.output(0, y);
    c.output(1, square);
  }
};

/// The places of what is not zero, whose number only running tells.
class PlacesPlusOne final : public detail::ComposedOperator {
 protected:
  void compose(Composition& c) const override {
    c.output(0, c.add("Add", {c.add("NonZero", {c.input(0)}), c.integers({1})}));
  }
};

/// Custom operators are everybody's: they are added once.
void add_operators() {
  static const bool added = [] {
    custom_operators().add<Polynomial>("Polynomial", {.domain = "org.example"});
    custom_operators().add<PlacesPlusOne>("PlacesPlusOne", {.domain = "org.example"});
    return true;
  }();
  REQUIRE(added);
}

}  // namespace

TEST_CASE("a composed operator runs its steps, and tells what lies between them if it is asked") {
  add_operators();
  const auto run = run_case("org.example.Polynomial@1 {1,2,3} {10,10,10} outputs=2");
  const auto y = run.output(0).tensor().span<float>(),
             square = run.output(1).tensor().span<float>();
  CHECK(Floats(y.begin(), y.end()) == Floats{12, 16, 22});
  CHECK(Floats(square.begin(), square.end()) == Floats{1, 4, 9});
  CHECK(result_of("org.example.Polynomial@1 {1,2,3}") == Floats{2, 6, 12});
  CHECK(run.cost().flop == 9);
}

TEST_CASE("gradients of a composed operator add up where a value is read more than once") {
  add_operators();
  check_gradient("org.example.Polynomial@1 2x3 2x3 outputs=2", 2);
  check_gradient("org.example.Polynomial@1 2x3", 1);
  OperatorRunner runner =
      run_case("org.example.Polynomial@1 {1,2,3} {0,0,0} outputs=2", Mode::training);
  runner.backward({Tensor::vector(Floats{1, 1, 1}), Tensor::vector(Floats{1, 1, 1})});
  const auto dx = runner.grad_input(0).span<float>();  // 2 x + 1, and 2 x more
  CHECK(Floats(dx.begin(), dx.end()) == Floats{5, 9, 13});
}

TEST_CASE("a composed operator of small floats is rounded once") {
  add_operators();
  // In float16 the square of 1 + 2^-10 alone would lose its 2^-20, and the sum with it a half.
  const float x = 1 + 0x1p-10f;
  OperatorCase one = parse_case("org.example.Polynomial@1 float16:{0} float16:{0}");
  one.inputs[0].tensor().data<Float16>()[0] = Float16(x);
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
  runner.forward();
  CHECK(float(runner.output(0).tensor().item<Float16>()) == float(Float16(x * x + x)));
}

TEST_CASE("a composed operator refuses steps whose sizes only running tells") {
  add_operators();
  CHECK_THROWS_AS(run_case("org.example.PlacesPlusOne@1 {1,0,2}"), Unsupported);
}
