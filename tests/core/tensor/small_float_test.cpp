// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/small_float.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>

using namespace d5;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
T from_code(unsigned code) {
  return T::from_bits(typename T::Bits(code));
}

/// Finite values that are not negative, in the order of their codes.
template <class T>
std::map<unsigned, float> finite_values() {
  std::map<unsigned, float> result;
  for (unsigned code = 0; code <= T::kLargest; ++code) result[code] = from_code<T>(code);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("every code survives the way to float and back", "", Float16, BFloat16,
                   Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1, Float6E2M3,
                   Float6E3M2) {
  for (unsigned code = 0; code < 1u << TestType::kWidth; ++code) {
    const float value = from_code<TestType>(code);
    const TestType back(value);
    const TestType back_from_double(double(value), Overflow::to_infinity);
    if (std::isnan(value)) {
      if (!std::isnan(float(back)) || !std::isnan(float(back_from_double)))
        FAIL("NaN code " << code);
    } else if (back.bits != code || back_from_double.bits != code) {
      FAIL("code " << code << " came back as " << back.bits << " and " << back_from_double.bits);
    }
  }
  SUCCEED();
}

TEMPLATE_TEST_CASE("a number between two neighbours goes to the nearer one, a tie to the even one",
                   "", Float16, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ,
                   Float4E2M1, Float6E2M3, Float6E3M2) {
  const auto values = finite_values<TestType>();
  const auto encode = [](double x) { return unsigned(TestType(x, Overflow::to_infinity).bits); };
  for (auto low = values.begin(), high = std::next(low); high != values.end(); ++low, ++high) {
    REQUIRE(low->second < high->second);
    // Exact: the neighbours have at most 11 bits, a double 53.
    const double middle = (double(low->second) + double(high->second)) / 2;
    const unsigned even = low->first % 2 == 0 ? low->first : high->first;
    if (encode(middle) != even) FAIL("tie above code " << low->first);
    if (encode(std::nextafter(middle, 0)) != low->first) FAIL("below tie of code " << low->first);
    if (encode(std::nextafter(middle, 1e300)) != high->first) FAIL("above tie of " << low->first);
    // The same ties from float, where the middle is one.
    if (double(float(middle)) == middle && TestType(float(middle)).bits != even) {
      FAIL("tie from float above code " << low->first);
    }
    if (low->first > 0 && encode(-middle) != (even | TestType::kSign)) FAIL("sign " << low->first);
  }
  SUCCEED();
}

// Largest, smallest normal and smallest subnormal numbers from IEEE 754, table 1 of "FP8 Formats
// for Deep Learning", section 3 of "8-bit Numerical Formats for Deep Neural Networks" and table 1
// of the OCP Microscaling specification.
TEST_CASE("the formats have the ranges that their papers give") {
  CHECK(float(from_code<Float16>(0x3c00)) == 1.0f);
  CHECK(float(from_code<Float16>(0x7bff)) == 65504.0f);
  CHECK(float(from_code<Float16>(0x0400)) == 0x1p-14f);
  CHECK(float(from_code<Float16>(0x0001)) == 0x1p-24f);
  CHECK(float(from_code<Float16>(0x7c00)) == kInfinity);
  CHECK(std::isnan(float(from_code<Float16>(0x7e00))));
  CHECK(float(from_code<BFloat16>(0x3f80)) == 1.0f);
  CHECK(float(from_code<BFloat16>(0xc2f7)) == -123.5f);
  CHECK(float(from_code<BFloat16>(0x7f7f)) == 0x1.fep127f);
  CHECK(float(from_code<BFloat16>(0x0001)) == 0x1p-133f);
  CHECK(float(from_code<Float8E4M3FN>(0x7e)) == 448.0f);
  CHECK(float(from_code<Float8E4M3FN>(0x08)) == 0x1p-6f);
  CHECK(float(from_code<Float8E4M3FN>(0x01)) == 0x1p-9f);
  CHECK(std::isnan(float(from_code<Float8E4M3FN>(0x7f))));
  CHECK(float(from_code<Float8E5M2>(0x7b)) == 57344.0f);
  CHECK(float(from_code<Float8E5M2>(0x04)) == 0x1p-14f);
  CHECK(float(from_code<Float8E5M2>(0x01)) == 0x1p-16f);
  CHECK(float(from_code<Float8E5M2>(0x7c)) == kInfinity);
  CHECK(float(from_code<Float8E4M3FNUZ>(0x7f)) == 240.0f);
  CHECK(float(from_code<Float8E4M3FNUZ>(0x01)) == 0x1p-10f);
  CHECK(std::isnan(float(from_code<Float8E4M3FNUZ>(0x80))));
  CHECK(float(from_code<Float8E5M2FNUZ>(0x7f)) == 57344.0f);
  CHECK(float(from_code<Float8E5M2FNUZ>(0x01)) == 0x1p-17f);
  CHECK(std::isnan(float(from_code<Float8E5M2FNUZ>(0x80))));
  CHECK(float(from_code<Float4E2M1>(0x7)) == 6.0f);
  CHECK(float(from_code<Float4E2M1>(0x1)) == 0.5f);
  CHECK(float(from_code<Float6E2M3>(0x1f)) == 7.5f);
  CHECK(float(from_code<Float6E2M3>(0x08)) == 1.0f);
  CHECK(float(from_code<Float6E2M3>(0x01)) == 0.125f);
  CHECK(float(from_code<Float6E3M2>(0x1f)) == 28.0f);
  CHECK(float(from_code<Float6E3M2>(0x04)) == 0.25f);
  CHECK(float(from_code<Float6E3M2>(0x01)) == 0.0625f);
}

TEST_CASE("above the largest number comes infinity, or NaN where there is none") {
  // Half a step above the largest number is a tie, and its even neighbour would be the next one.
  CHECK(float(Float16(65519.99f)) == 65504.0f);
  CHECK(float(Float16(65520.0f)) == kInfinity);
  CHECK(float(Float16(-1e6f)) == -kInfinity);
  CHECK(float(BFloat16(std::numeric_limits<float>::max())) == kInfinity);
  CHECK(float(Float8E4M3FN(464.0f)) == 448.0f);  // a tie with the NaN code, which is odd
  CHECK(std::isnan(float(Float8E4M3FN(465.0f))));
  CHECK(std::isnan(float(Float8E4M3FN(kInfinity))));
  CHECK(float(Float8E5M2(61440.0f)) == kInfinity);
  CHECK(std::isnan(float(Float8E4M3FNUZ(1000.0f))));
  CHECK(float(Float4E2M1(kInfinity)) == 6.0f);
  CHECK(float(Float6E2M3(-kInfinity)) == -7.5f);
  CHECK(float(Float6E3M2(1e9f)) == 28.0f);
}

TEST_CASE("a saturating conversion stops at the largest number and keeps NaN") {
  CHECK(float(Float8E4M3FN(1e9, Overflow::saturate)) == 448.0f);
  CHECK(float(Float8E4M3FN(-double(kInfinity), Overflow::saturate)) == -448.0f);
  CHECK(float(Float8E5M2(double(kInfinity), Overflow::saturate)) == 57344.0f);
  CHECK(float(Float8E5M2FNUZ(1e9, Overflow::saturate)) == 57344.0f);
  CHECK(std::isnan(float(Float8E4M3FN(double(kNan), Overflow::saturate))));
}

TEST_CASE("zero keeps its sign where the format has two zeros") {
  CHECK(Float16(-0.0f).bits == 0x8000);
  CHECK(Float8E4M3FN(-0.0f).bits == 0x80);
  CHECK(Float8E4M3FNUZ(-0.0f).bits == 0);
  CHECK(Float8E4M3FNUZ(-1e-9f).bits == 0);
}

TEST_CASE("a double is rounded once, not by way of float") {
  // 1 + 2^-11 + 2^-40 is above the tie between 1 and 1 + 2^-10; as float it is the tie itself.
  CHECK(Float16(1.0 + 0x1p-11 + 0x1p-40, Overflow::to_infinity).bits == 0x3c01);
}

TEST_CASE("a scale of the microscaling formats is the nearest power of two") {
  for (int code = 0; code < 255; ++code) {
    Float8E8M0 scale;
    scale.bits = std::uint8_t(code);
    if (float(scale) != std::ldexp(1.0f, code - 127)) FAIL("value of code " << code);
    if (Float8E8M0(float(scale)).bits != code) FAIL("code " << code << " does not come back");
  }
  CHECK(float(Float8E8M0(2.9f)) == 2.0f);
  CHECK(float(Float8E8M0(3.1f)) == 4.0f);
  CHECK(std::isnan(float(Float8E8M0(kNan))));
  CHECK(std::isnan(float(Float8E8M0(-1.0f))));
}

TEST_CASE("integers of two and four bits wrap around as C++ conversions do") {
  CHECK(int(Int4(7)) == 7);
  CHECK(int(Int4(8)) == -8);
  CHECK(int(Int4(-9)) == 7);
  CHECK(int(UInt4(17)) == 1);
  CHECK(int(Int2(2)) == -2);
  CHECK(int(UInt2(-1)) == 3);
}
