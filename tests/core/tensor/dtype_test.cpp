// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/dtype.hpp"

#include <catch2/catch.hpp>

using namespace d5;

TEST_CASE("every element type has a name that leads back to it") {
  for (int i = 1; i < kDTypeCount; ++i) CHECK(dtype_from_name(name_of(DType(i))) == DType(i));
  CHECK(name_of(DType::bfloat16) == "bfloat16");
  CHECK(name_of(DType::boolean) == "bool");
  CHECK_THROWS_WITH(dtype_from_name("float23"), Catch::Contains("did you mean"));
  CHECK_THROWS_AS(dtype_from_name("undefined"), NotFound);
}

TEST_CASE("sizes in memory are those of the C++ types, one byte for sub-byte types") {
  CHECK(size_of(DType::float32) == 4);
  CHECK(size_of(DType::float16) == 2);
  CHECK(size_of(DType::float8e8m0) == 1);
  CHECK(size_of(DType::int2) == 1);
  CHECK(size_of(DType::complex128) == 16);
  CHECK(size_of(DType::string) == sizeof(std::string));
  CHECK(size_of(DType::undefined) == 0);
}

TEST_CASE("bits in a file are those of the format") {
  CHECK(bits_of(DType::int2) == 2);
  CHECK(bits_of(DType::float4e2m1) == 4);
  CHECK(bits_of(DType::float6e3m2) == 6);
  CHECK(bits_of(DType::boolean) == 8);
  CHECK(bits_of(DType::complex128) == 128);
}

TEST_CASE("types are floats, integers or neither") {
  CHECK(is_floating_point(DType::float4e2m1));
  CHECK(is_floating_point(DType::float6e2m3));
  CHECK_FALSE(is_floating_point(DType::complex64));
  CHECK(is_integer(DType::uint2));
  CHECK_FALSE(is_integer(DType::boolean));
}

TEST_CASE("dispatch calls with the C++ type, and refuses what is not in the list") {
  std::size_t size = 0;
  dispatch(RealTypes{}, DType::float64, "Gemm", [&]<class T>() { size = sizeof(T); });
  CHECK(size == 8);
  CHECK_THROWS_WITH(
      dispatch(RealTypes{}, DType::int32, "Gemm", [&]<class T>() { size = sizeof(T); }),
      "Gemm: element type int32 is not supported here");
}
