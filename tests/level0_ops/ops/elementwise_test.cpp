// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;
using Bools = std::vector<bool>;

TEST_CASE("comparisons give truth values, also of texts") {
  CHECK(result_of<bool>("Less {1,2,3} {2}") == Bools{true, false, false});
  CHECK(result_of<bool>("LessOrEqual {1,2,3} {2}") == Bools{true, true, false});
  CHECK(result_of<bool>("Greater {1,2,3} {2}") == Bools{false, false, true});
  CHECK(result_of<bool>("GreaterOrEqual {1,2,3} {2}") == Bools{false, true, true});
  CHECK(result_of<bool>("Equal {nan,1} {nan,1}") == Bools{false, true});
  CHECK(result_of<bool>("Equal string:{cat,dog} string:{cat}") == Bools{true, false});
  CHECK(result_of<bool>("Equal@6 int32:2x2{1,2,2,1} int32:{1,2} broadcast=1 axis=0") ==
        Bools{true, false, true, false});
  CHECK_THROWS_AS(run_case("Less string:{a} string:{b}"), TypeError);
}

TEST_CASE("logic works on truth values, bitwise logic on integers") {
  CHECK(result_of<bool>("And bool:{0,0,1,1} bool:{0,1,0,1}") == Bools{false, false, false, true});
  CHECK(result_of<bool>("Or bool:{0,0,1,1} bool:{0,1,0,1}") == Bools{false, true, true, true});
  CHECK(result_of<bool>("Xor bool:{0,0,1,1} bool:{0,1,0,1}") == Bools{false, true, true, false});
  CHECK(result_of<bool>("Not bool:{0,1}") == Bools{true, false});
  CHECK(result_of<std::int32_t>("BitwiseXor int32:{5,-1} int32:{3}") ==
        std::vector<std::int32_t>{6, -4});
  CHECK(result_of<std::int32_t>("BitwiseNot int32:{0,5}") == std::vector<std::int32_t>{-1, -6});
  CHECK_THROWS_AS(run_case("And int32:{1} int32:{1}"), TypeError);
  CHECK_THROWS_AS(run_case("BitwiseAnd {1} {1}"), TypeError);
}

TEST_CASE("bits that are moved too far are gone") {
  using Bytes = std::vector<std::int8_t>;
  CHECK(result_of<std::int8_t>("BitShift int8:{3,3,-128} int8:{1,8,1} direction=LEFT") ==
        Bytes{6, 0, 0});
  CHECK(result_of<std::int8_t>("BitShift int8:{3,-3,-3,3} int8:{1,1,9,-1} direction=RIGHT") ==
        Bytes{1, -2, -1, 0});
  CHECK_THROWS_AS(run_case("BitShift uint8:{1} uint8:{1} direction=UP"), ValueError);
}

TEST_CASE("Where chooses, for every type") {
  CHECK(result_of("Where bool:{1,0} 2x1{1,2} {10,20}") == Floats{1, 20, 2, 20});
  CHECK(result_of<std::string>("Where bool:{1,0} string:{a} string:{b}") ==
        std::vector<std::string>{"a", "b"});
  check_gradient("Where bool:{1,0,1} 2x3 2x1", 2);
  check_gradient("Where bool:2x1{1,0} 3 scalar", 2);
  CHECK_THROWS_AS(run_case("Where {1,0} {1} {2}"), TypeError);
}

TEST_CASE("Clip keeps elements between its limits") {
  CHECK(result_of("Clip {-2,0.5,9} scalar{-1} scalar{1}") == Floats{-1, 0.5, 1});
  CHECK(result_of("Clip {-2,9} - scalar{1}") == Floats{-2, 1});
  CHECK(result_of("Clip@6 {-2,9} min=0.0 max=6.0") == Floats{0, 6});
  CHECK(result_of("Clip {1,5} scalar{3} scalar{2}") == Floats{2, 2});
  CHECK(result_of<std::int8_t>("Clip int8:{-100,100} - int8:scalar{7}") ==
        std::vector<std::int8_t>{-100, 7});
  CHECK(std::isnan(result_of("Clip {nan} scalar{0} scalar{1}")[0]));
  check_gradient("Clip {-2,0.5,9,0.25} float64:scalar{-1} float64:scalar{1}", 1);
  CHECK_THROWS_AS(run_case("Clip {1} int32:scalar{0}"), TypeError);
}

TEST_CASE("powers take an exponent of another type") {
  CHECK(result_of("Pow {2,3,4} int64:{3,2,0}") == Floats{8, 9, 1});
  CHECK(result_of<std::int64_t>("Pow int64:{3,-2,1,5} int64:{39,3,-4,-1}") ==
        std::vector<std::int64_t>{4052555153018976267, -8, 1, 0});
  CHECK(result_of<std::int32_t>("Pow int32:{4} {0.5}") == std::vector<std::int32_t>{2});
  check_gradient("Pow 2x3{1,2,3,0.5,1.5,0.1} {2,-1,0.5}", 2);
  check_gradient("Pow {-1.5,2} int64:{3}", 1);
}

TEST_CASE("a remainder has the sign of the divisor, with fmod of the dividend") {
  using Numbers = std::vector<std::int32_t>;
  CHECK(result_of<std::int32_t>("Mod int32:{-4,7,5,4,-7,8} int32:{2,-3,8,-2,3,5}") ==
        Numbers{0, -2, 5, 0, 2, 3});
  CHECK(result_of<std::int32_t>("Mod int32:{-4,7,5,4,-7,8} int32:{2,-3,8,-2,3,5} fmod=1") ==
        Numbers{0, 1, 5, 0, -1, 3});
  CHECK(result_of("Mod {-4.5,5.5} {2,-2} fmod=1") == Floats{-0.5, 1.5});
  CHECK(result_of<std::int32_t>("Mod int32:{-2147483648} int32:{-1}") == Numbers{0});
}

TEST_CASE("functions of one element have their textbook values") {
  CHECK(result_of("Round {0.5,1.5,2.5,-0.5,-1.5,2.4}") == Floats{0, 2, 2, -0.f, -2, 2});
  CHECK(result_of("Sign {-3,0,5}") == Floats{-1, 0, 1});
  CHECK(result_of("Reciprocal {2,-4}") == Floats{0.5, -0.25});
  CHECK(result_of("Erf {0,1}")[1] == Approx(0.8427007929));
  CHECK(result_of<std::int64_t>("Erf@9 int64:{-3,0,1,9}") == std::vector<std::int64_t>{0, 0, 0, 1});
  CHECK(result_of("Atanh {0.5}")[0] == Approx(0.5493061443));
  CHECK(result_of<std::int8_t>("Abs int8:{-5,5,-128}") == std::vector<std::int8_t>{5, 5, -128});
  CHECK(result_of<bool>("IsInf {inf,-inf,1,nan} detect_negative=0") ==
        Bools{true, false, false, false});
  CHECK(result_of<bool>("IsNaN {inf,nan}") == Bools{false, true});
}

TEST_CASE("slopes of functions of one element agree with central differences") {
  for (const std::string op : {"Abs", "Neg", "Exp", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh",
                               "Asinh", "Erf", "Reciprocal"}) {
    check_gradient(op + " {-1.3,-0.4,0.3,1.1}", 1);
  }
  for (const std::string op : {"Asin", "Acos", "Atanh"}) check_gradient(op + " {-0.8,-0.1,0.6}", 1);
  for (const std::string op : {"Sqrt", "Log"}) check_gradient(op + " {0.2,1.5,7}", 1);
  check_gradient("Acosh {1.2,3}", 1);
  for (const std::string op : {"Ceil", "Floor", "Round", "Sign"}) {
    check_gradient(op + " {-1.3,0.3,1.1}", 1);
  }
}
