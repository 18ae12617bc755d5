// SPDX-License-Identifier: Apache-2.0
// When two values count as equal, and the message if they do not.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/level0_ops/validation/operator_validation.hpp"

using namespace d5;

namespace {

Value compared_floats(std::initializer_list<float> values) {
  return Tensor::of<float>({std::int64_t(values.size())}, values);
}

}  // namespace

TEST_CASE("values are compared within the tolerance, and the first that is not is named") {
  const Value expected = compared_floats({1, 100, 0});
  CHECK(compare_values(compared_floats({1.000001f, 100.0005f, 0}), expected, {}).equal);
  const Difference off = compare_values(compared_floats({1, 100, 0.5}), expected, {});
  CHECK_FALSE(off.equal);
  CHECK(off.where == "value[2]: got 0.5, expected 0");
  CHECK(off.largest_absolute == 0.5);
}

TEST_CASE("an error that is NaN is not hidden by a smaller one behind it") {
  const Difference difference =
      compare_values(compared_floats({NAN, 1}), compared_floats({1, 2}), {});
  CHECK(std::isnan(difference.largest_absolute));
  CHECK(std::isnan(difference.largest_relative));
}

TEST_CASE("NaN equals NaN only, and infinities equal themselves") {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  CHECK(
      compare_values(compared_floats({nan, infinity}), compared_floats({nan, infinity}), {}).equal);
  CHECK_FALSE(compare_values(compared_floats({nan}), compared_floats({1}), {}).equal);
  CHECK_FALSE(compare_values(compared_floats({1}), compared_floats({nan}), {}).equal);
  CHECK_FALSE(compare_values(compared_floats({infinity}), compared_floats({1}), {}).equal);
  CHECK_FALSE(compare_values(compared_floats({infinity}), compared_floats({-infinity}), {}).equal);
}

TEST_CASE("integers must be exact; types and shapes must be the same") {
  const auto integers = [](std::int64_t value) { return Value(Tensor::scalar(value)); };
  CHECK(compare_values(integers(5), integers(5), {}).equal);
  CHECK_FALSE(compare_values(integers(1'000'000), integers(1'000'001), {}).equal);
  CHECK_FALSE(compare_values(integers(5), Tensor::scalar(5.0f), {}).equal);
  CHECK_FALSE(compare_values(Tensor::zeros(DType::float32, {2, 3}),
                             Tensor::zeros(DType::float32, {3, 2}), {})
                  .equal);
}

TEST_CASE("sequences and optionals are compared inside") {
  const auto sequence = [](float x) {
    return Value(Sequence{TensorDesc{}, {compared_floats({1}), compared_floats({x})}});
  };
  CHECK(compare_values(sequence(2), sequence(2), {}).equal);
  CHECK(compare_values(sequence(2), sequence(3), {}).where == "value[1][0]: got 2, expected 3");
  const Value none = Optional{TensorDesc{}, nullptr};
  CHECK_FALSE(compare_values(
                  none, Optional{TensorDesc{}, std::make_shared<Value>(compared_floats({1}))}, {})
                  .equal);
}

TEST_CASE("maps are compared key by key, in whatever order") {
  using Words = std::vector<std::string>;
  const auto map = [](const Words& keys, float a, float b) {
    const Sequence values{TensorDesc{}, {compared_floats({a}), compared_floats({b})}};
    return Value(Map{keys, std::make_shared<const Value>(values)});
  };
  CHECK(compare_values(map({"a", "b"}, 2, 3), map({"b", "a"}, 3, 2), {}).equal);
  CHECK(compare_values(map({"a", "b"}, 2, 3), map({"b", "a"}, 4, 2), {}).where ==
        "value[b][0]: got 3, expected 4");
  CHECK(compare_values(map({"a", "b"}, 2, 3), map({"a", "c"}, 2, 3), {}).where ==
        "value: the keys differ");
  const Sequence values{TensorDesc{}, {compared_floats({2}), compared_floats({3})}};
  const Map other{std::vector<std::int64_t>{1, 2}, std::make_shared<const Value>(values)};
  CHECK_FALSE(compare_values(map({"a", "b"}, 2, 3), other, {}).equal);
}
