// SPDX-License-Identifier: Apache-2.0
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Sums = std::vector<std::int32_t>;

TEST_CASE("MulInteger multiplies what is left of its zero points") {
  CHECK(result_of<std::int32_t>(
            "com.microsoft.MulInteger uint8:{255,0,3} uint8:scalar{2} uint8:{255,200,1} "
            "uint8:scalar{1}") == Sums{253 * 254, -2 * 199, 0});
  CHECK(result_of<std::int32_t>("com.microsoft.MulInteger int8:{-128,2} - int8:{-128,3}") ==
        Sums{16384, 6});
}

TEST_CASE("ReduceSumInteger sums beyond the range of a byte") {
  CHECK(result_of<std::int32_t>(
            "com.microsoft.ReduceSumInteger int8:2x2{-128,-128,127,1} axes=1 keepdims=0") ==
        Sums{-256, 128});
  CHECK(result_of<std::uint32_t>(
            "com.microsoft.ReduceSumInteger uint8:1x2{255,255} axes=0x1 keepdims=1") ==
        std::vector<std::uint32_t>{510});
}

TEST_CASE("MatMulInteger16 multiplies in 32 bits") {
  CHECK(result_of<std::int32_t>(
            "com.microsoft.MatMulInteger16 int16:1x2{30000,-30000} int16:2x1{30000,1}") ==
        Sums{899970000});
  CHECK(result_of<std::uint32_t>(
            "com.microsoft.MatMulInteger16 uint16:1x1{65535} uint16:1x1{65535}") ==
        std::vector<std::uint32_t>{4294836225U});
}
