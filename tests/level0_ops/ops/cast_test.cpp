// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level0_ops/operator/conversion.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using detail::Conversion;
using detail::ConversionRules;
using detail::ExponentRounding;

namespace {

template <class To, class From>
To converted(From value, ConversionRules rules = {}) {
  To result;
  Conversion(dtype_of<From>, dtype_of<To>, rules).run(&result, &value, 1);
  return result;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("every element type is converted to every other") {
  const auto each = [](auto f) {
    for (int t = 1; t < kDTypeCount; ++t) f(DType(t));
  };
  each([&](DType from) {
    each([&](DType to) {
      const bool is_complex = from == DType::complex64 || from == DType::complex128;
      if (is_complex && to == DType::string) {
        CHECK_THROWS_AS(Conversion(from, to), Unsupported);
        return;
      }
      // 1 is a number of every type.
      const std::int32_t ones[] = {1, 1, 1};
      Tensor one = Tensor::empty(from, {3}), other = Tensor::empty(to, {3});
      float back[3];
      Conversion(DType::int32, from).run(one.raw(), ones, 3);
      Conversion(from, to).run(other.raw(), one.raw(), 3);
      Conversion(to, DType::float32).run(back, other.raw(), 3);
      INFO(name_of(from) << " to " << name_of(to));
      CHECK(back[2] == 1);
    });
  });
}

TEST_CASE("integers keep their low bits") {
  CHECK(converted<std::int8_t>(std::int16_t(200)) == -56);
  CHECK(converted<std::uint32_t>(std::int64_t(-1)) == 4294967295u);
  CHECK(int(converted<Int4>(std::int32_t(9))) == -7);
  CHECK(int(converted<UInt2>(std::int32_t(7))) == 3);
  CHECK(int(converted<UInt4>(-9.0f)) == 7);
  CHECK(converted<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("floats are cut towards zero, and what is not zero is true") {
  CHECK(converted<std::int32_t>(-2.9) == -2);
  CHECK(converted<std::uint64_t>(0x1p63) == std::uint64_t(1) << 63);
  CHECK(converted<bool>(std::nan("")));
  CHECK_FALSE(converted<bool>(-0.0f));
}

TEST_CASE("a float8 saturates, or overflows if told to") {
  const ConversionRules overflowing{.overflow = Overflow::to_infinity};
  CHECK(float(converted<Float8E4M3FN>(1e6f)) == 448);
  CHECK(float(converted<Float8E4M3FN>(-kInfinity)) == -448);
  CHECK(float(converted<Float8E5M2>(1e6f)) == 57344);
  CHECK(std::isnan(float(converted<Float8E4M3FN>(1e6f, overflowing))));
  CHECK(float(converted<Float8E5M2>(1e6f, overflowing)) == kInfinity);
  CHECK(std::isnan(float(converted<Float8E5M2FNUZ>(kInfinity, overflowing))));
  // A float16 is no float8: it always overflows.
  CHECK(float(converted<Float16>(1e6f)) == kInfinity);
  CHECK(float(converted<Float4E2M1>(1e6f)) == 6);
  CHECK(float(converted<Float6E2M3>(-kInfinity)) == -7.5f);
  CHECK(float(converted<Float6E3M2>(1e6f, overflowing)) == 28);
}

TEST_CASE("a power of two is rounded as asked") {
  const auto rounded = [](float x, ExponentRounding rounding) {
    return float(converted<Float8E8M0>(x, {.exponent_rounding = rounding}));
  };
  CHECK(rounded(1.1f, ExponentRounding::up) == 2);
  CHECK(rounded(1.9f, ExponentRounding::down) == 1);
  CHECK(rounded(1.4f, ExponentRounding::nearest) == 1);
  CHECK(rounded(1.5f, ExponentRounding::nearest) == 2);
  CHECK(rounded(4.0f, ExponentRounding::up) == 4);
  CHECK(rounded(0.0f, ExponentRounding::up) == 0x1p-127f);
  CHECK(rounded(kInfinity, ExponentRounding::up) == 0x1p127f);
  const ConversionRules strict{Overflow::to_infinity, ExponentRounding::nearest};
  CHECK(std::isnan(float(converted<Float8E8M0>(0.0f, strict))));
  CHECK(std::isnan(float(converted<Float8E8M0>(kInfinity, strict))));
}

TEST_CASE("numbers are written and read as text") {
  CHECK(converted<std::string>(0.1f) == "0.1");
  CHECK(converted<std::string>(1.0) == "1.0");
  CHECK(converted<std::string>(std::int64_t(-5)) == "-5");
  CHECK(converted<float>(std::string("1e-5")) == 1e-5f);
  CHECK(converted<float>(std::string("+INF")) == kInfinity);
  CHECK(converted<double>(std::string("-inf")) == -kInfinity);
  CHECK(std::isnan(converted<float>(std::string("NaN"))));
  CHECK(converted<std::int64_t>(std::string("9223372036854775807")) == 9223372036854775807);
  CHECK(converted<std::int32_t>(std::string("100.5")) == 100);
  CHECK_THROWS_AS(converted<float>(std::string("Hello World!")), ValueError);
}

TEST_CASE("Cast takes its type as a number, and as a word in old opsets") {
  CHECK(result_of<std::int32_t>("Cast {1.5,-2.5} to=6") == std::vector<std::int32_t>{1, -2});
  CHECK(result_of<std::int32_t>("CastLike {1.5} int32:{0}") == std::vector<std::int32_t>{1});
  CHECK_THROWS_AS(run_case("Cast {1} to=99"), ValueError);
  CHECK_THROWS_AS(run_case("Cast {1} to=24 round_mode=sideways"), ValueError);
  check_gradient("Cast 2x3 to=11", 1);
}

TEST_CASE("BitCast keeps the bits") {
  CHECK(result_of<std::int32_t>("BitCast {1} to=6") == std::vector<std::int32_t>{0x3f800000});
  CHECK_THROWS_AS(run_case("BitCast {1} to=7"), TypeError);
}
