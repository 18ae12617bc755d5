// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;

TEST_CASE("two tensors of one shape are combined element by element") {
  CHECK(result_of("Add {1,2,3} {10,20,30}") == Floats{11, 22, 33});
  CHECK(result_of("Sub {1,2,3} {10,20,30}") == Floats{-9, -18, -27});
  CHECK(result_of("Mul {1,2,3} {10,20,30}") == Floats{10, 40, 90});
  CHECK(result_of("Div {1,9,-3} {2,3,4}") == Floats{0.5, 3, -0.75});
}

TEST_CASE("inputs are broadcast to each other") {
  CHECK(result_of("Add 2x1{1,2} 1x3{10,20,30}") == Floats{11, 21, 31, 12, 22, 32});
  CHECK(result_of("Sub 2x2{1,2,3,4} scalar{1}") == Floats{0, 1, 2, 3});
  CHECK(result_of("Sub scalar{1} 2x2{1,2,3,4}") == Floats{0, -1, -2, -3});
  CHECK(result_of("Mul 2x2{1,2,3,4} {10,100}") == Floats{10, 200, 30, 400});
  CHECK(shape_of("Add 2x0x3 1x1x3") == "2x0x3");
  CHECK(shape_of("Add 7x1x5 3x1") == "7x3x5");
}

TEST_CASE("until opset 6 the second input is broadcast where an attribute says") {
  CHECK(result_of("Add@6 2x3{1,2,3,4,5,6} {10,20} broadcast=1 axis=0") ==
        Floats{11, 12, 13, 24, 25, 26});
  CHECK(result_of("Add@6 2x3{1,2,3,4,5,6} {10,20,30} broadcast=1") ==
        Floats{11, 22, 33, 14, 25, 36});
  CHECK_THROWS_AS(run_case("Add@6 2x3 3"), ShapeError);
  CHECK_THROWS_AS(run_case("Add@6 2x3 3 broadcast=1 axis=0"), ShapeError);
  CHECK_THROWS_AS(run_case("Add@6 2x3 2x3x1 broadcast=1 axis=1"), ShapeError);
}

TEST_CASE("integers wrap around, and are divided towards zero") {
  CHECK(result_of<std::int32_t>("Add int32:{2147483647} int32:{1}") == Integers{-2147483648});
  CHECK(result_of<std::int32_t>("Mul int32:{65536} int32:{65537}") == Integers{65536});
  CHECK(result_of<std::uint8_t>("Sub uint8:{3} uint8:{5}") == std::vector<std::uint8_t>{254});
  CHECK(result_of<std::int32_t>("Div int32:{7,-7,-2147483648} int32:{2,2,-1}") ==
        Integers{3, -3, -2147483648});
}

TEST_CASE("an integer division by zero is refused") {
  CHECK_THROWS_AS(run_case("Div int32:{1,2} int32:{1,0}"), ValueError);
  CHECK_THROWS_AS(run_case("Mod int64:{1} int64:{0}"), ValueError);
}

TEST_CASE("inputs that do not fit are refused with both shapes") {
  CHECK_THROWS_WITH(run_case("Add 2x3 4"),
                    "Add 'output0': 2x3 and 4 cannot be broadcast: 3 against 4, counted from the "
                    "last dimension; they must be equal or 1");
  CHECK_THROWS_AS(run_case("Mul 2 float64:2"), TypeError);
  CHECK_THROWS_AS(run_case("Add string:{a} string:{b}"), TypeError);
}

TEST_CASE("gradients of arithmetic agree with central differences") {
  for (const std::string op : {"Add", "Sub", "Mul"}) {
    check_gradient(op + " 2x3x4 2x3x4", 2);
    check_gradient(op + " 2x3x4 3x1", 2);
    check_gradient(op + " 3x1 2x3x4", 2);
    check_gradient(op + " scalar 2x3", 2);
  }
  // Divisors stay away from 0.
  check_gradient("Div 2x3 2x3{1,-2,3,1.5,-0.7,2}", 2);
  check_gradient("Div 2x3 {1,-2,3}", 2);
  check_gradient("Mul@6 2x3x4 3 broadcast=1 axis=1", 2);
  check_gradient("Sub@6 2x3x4 2 broadcast=1 axis=0", 2);
}

TEST_CASE("variadic operators fold their inputs") {
  CHECK(result_of("Sum {1,2} {10,20} {100,200}") == Floats{111, 222});
  CHECK(result_of("Mean {1,2} {4,8} {4,2}") == Floats{3, 4});
  CHECK(result_of("Max 2x1{1,5} {2,7}") == Floats{2, 7, 5, 7});
  CHECK(result_of("Min {1,5,9} {2,4,9}") == Floats{1, 4, 9});
  CHECK(result_of("Sum {1,2}") == Floats{1, 2});
  const auto nan = result_of("Max {nan,1,2} {1,nan,3}");
  CHECK((std::isnan(nan[0]) && std::isnan(nan[1]) && nan[2] == 3));
}

TEST_CASE("gradients of variadic operators agree with central differences") {
  check_gradient("Sum 2x3 3 2x1", 3);
  check_gradient("Mean 2x3 3", 2);
  check_gradient("Max 2x3 3 2x1", 3);
  check_gradient("Min 4x3 4x3", 2);
}

TEST_CASE("inputs that hold the maximum alike share its gradient") {
  OperatorRunner runner = run_case("Max {1,5} {5,5}", Mode::training);
  runner.backward({Tensor::of<float>({2}, {8, 8})});
  CHECK(runner.grad_input(0).data<float>()[0] == 0);
  CHECK(runner.grad_input(0).data<float>()[1] == 4);
  CHECK(runner.grad_input(1).data<float>()[0] == 8);
  CHECK(runner.grad_input(1).data<float>()[1] == 4);
}

TEST_CASE("small floats are summed as wide ones") {
  // 2048 + 1 in float16 is 2048.
  const std::string terms = " float16:1{2048} float16:1{1} float16:1{1}";
  CHECK(float(result_of<Float16>("Sum" + terms).at(0)) == 2050);
  CHECK(float(result_of<Float16>("Mean" + terms).at(0)) == float(Float16(2050 / 3.f)));
}
