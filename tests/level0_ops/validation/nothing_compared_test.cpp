// SPDX-License-Identifier: Apache-2.0
// Agreeing with answers that say nothing is no success.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level0_ops/validation/operator_check.hpp"
#include "level0_ops/validation/evidence.hpp"

using namespace d5;
using Catch::Contains;
using detail::Expectation;

namespace {

constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUnbounded = std::numeric_limits<float>::infinity();

Measurement forward(const std::string& line) {
  return test_forward(parse_case(line), "reference").front();
}

Value reals(std::initializer_list<float> values) {
  return Tensor::of<float>({std::int64_t(values.size())}, values);
}

std::string lack(const Value& value, Expectation expectation = Expectation::computed) {
  return detail::evidence_in(value).lack(expectation);
}

}  // namespace

TEST_CASE("a value says nothing where it has no elements, or fewer than half of them are numbers") {
  CHECK(lack(reals({kQuietNan, kQuietNan, 1})) == "NaN in 2 of 3 elements");
  CHECK(lack(reals({kUnbounded, -kUnbounded})) == "infinite in 2 of 2 elements");
  CHECK(lack(reals({kUnbounded, kQuietNan})) == "NaN or infinite in 2 of 2 elements");
  CHECK(lack(Tensor::zeros(DType::float32, {0, 3})) == "empty");
  CHECK(lack(reals({kQuietNan, 1})).empty());
  CHECK(lack(Tensor::zeros(DType::int64, {3})).empty());
  // A written expectation is right, unless it is NaN.
  CHECK(lack(reals({kQuietNan, kQuietNan}), Expectation::written) == "NaN in 2 of 2 elements");
  CHECK(lack(reals({kQuietNan, kQuietNan, 1}), Expectation::written).empty());
  CHECK(lack(reals({kUnbounded, kUnbounded}), Expectation::written).empty());
  CHECK(lack(Tensor::zeros(DType::float32, {0}), Expectation::written).empty());
}

TEST_CASE("an operator whose right answers say nothing is mistrusted, and the reason says why") {
  const auto [line, reason] = GENERATE(table<std::string, std::string>(
      {{"Log {-1,-2}", "the reference's answers are NaN in 2 of 2 elements: give inputs"},
       {"Div {1,2} {0,0}", "infinite in 2 of 2 elements: give inputs"},
       {"Div {1,0} {0,0}", "NaN or infinite in 2 of 2 elements: give inputs"},
       {"Relu 0x3", "the reference's answers are empty: give inputs"},
       {"Relu {-1,-2}", "0 in 2 of 2 elements, for other inputs, too: give inputs"},
       {"Softmax 4x1", "1 in 4 of 4 elements, for other inputs, too: give inputs"},
       {"Log {-1,-2} -> {nan,nan}", "the expected values are NaN in 2 of 2 elements"}}));
  INFO(line);
  const Measurement record = forward(line);
  CHECK(record.status == Status::mistrusted);
  CHECK_THAT(record.reason, Contains(reason));
  CHECK_THAT(record.conditions.at("compared").text(), Catch::StartsWith("nothing"));
}

TEST_CASE("an answer that is constant by right, or in part a number, passes") {
  for (const char* line :
       {"Add {1,1} {2,2}", "Shape 2x2", "ConstantOfShape int64:{4}", "IsNaN {1,2}",
        "Greater {2,3} {1,1}", "EyeLike 3x3", "Relu {-1,2}", "Exp {3}",
        "Div {1,1} {0,0} -> {inf,inf}", "Relu 0x3 -> 0x3{}", "Not bool:{1,1}"}) {
    INFO(line);
    CHECK(forward(line).status == Status::passed);
  }
  const Measurement half = forward("Log {-1,2}");
  CHECK(half.status == Status::passed);
  CHECK(half.conditions.at("compared") == "numbers in 1 of 2 elements");
}

TEST_CASE("norms of answers that say nothing are mistrusted, too") {
  const auto records =
      test_forward(parse_case("Log {-1,-2}"), "reference", {.errors = ErrorDetail::norms});
  REQUIRE(records.size() > 1);
  for (const auto& record : records) CHECK(record.status == Status::mistrusted);
}

TEST_CASE("gradients that are NaN on both sides are mistrusted") {
  const auto sqrt = test_gradient(parse_case("Sqrt {-1,-2}"), "reference");
  CHECK(sqrt.at(0).status == Status::mistrusted);
  CHECK_THAT(sqrt.at(0).reason, Contains("NaN or infinite in 2 of 2 places"));
  CHECK(test_gradient(parse_case("Relu 0x3"), "reference").at(0).status == Status::mistrusted);
  CHECK(test_gradient(parse_case("Floor 3%0.4"), "reference").at(0).status == Status::passed);
}

TEST_CASE("a time whose answers say nothing is mistrusted and not called right") {
  for (const char* line : {"Log {-1,-2}", "Relu {-1,-2}"}) {
    INFO(line);
    const auto records =
        bench(line, {.frameworks = {"reference"},
                     .metrics = {"time"},
                     .measuring = {.samples = 2, .warmup = 1, .seconds_per_sample = 1e-6}});
    REQUIRE_FALSE(records.empty());
    CHECK(records.front().conditions.at("answers") == "not compared");
    CHECK(records.front().status == Status::mistrusted);
    CHECK_THAT(records.front().reason, Contains("nothing was compared: output 0: "));
  }
}
