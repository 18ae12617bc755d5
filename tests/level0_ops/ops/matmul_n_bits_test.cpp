// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

const std::string kNBits = "com.microsoft.MatMulNBits ";

}  // namespace

TEST_CASE("MatMulNBits reads two numbers from a byte, the first from its lower half") {
  // 0x98 is 8 and then 9, 0x7a is 10 and then 7; zero is 8: {0, 1, 2, -1}, times 0.5.
  const std::string line = kNBits + "1x4{1,10,100,1000} uint8:1x1x2{152,122} {0.5} ";
  CHECK(result_of(line + "N=1 K=4 block_size=4") == Floats{-395});
  CHECK(result_of(line + "uint8:{7} N=1 K=4 block_size=4") == Floats{160.5f});
  CHECK(result_of(line + "{7.5} N=1 K=4 block_size=4") == Floats{-117.25f});
  CHECK(result_of(line + "- - {5} N=1 K=4 block_size=4") == Floats{-390});
}

TEST_CASE("MatMulNBits has a scale and a zero point for each block of each column") {
  // Two columns of three numbers in blocks of two; the fourth is padding.
  const std::string line = kNBits + "2x3{1,1,1,0,0,1} uint8:2x2x1{33,3,67,5} 2x2{1,10,1,100} ";
  CHECK(result_of(line + "uint8:2x1{16,16} N=2 K=3 block_size=2") ==
        Floats{3 + 20, 7 + 400, 20, 400});
}

TEST_CASE("MatMulNBits has numbers of 2 and of 8 bits") {
  // 0xe4 holds 0, 1, 2, 3; zero is 2.
  CHECK(result_of(kNBits + "1x4{1,10,100,1000} uint8:1x1x1{228} {1} N=1 K=4 block_size=4 bits=2") ==
        Floats{-2 - 10 + 1000});
  CHECK(result_of(kNBits + "1x2{1,10} uint8:1x1x2{129,126} {1} N=1 K=2 block_size=2 bits=8") ==
        Floats{1 - 20});
}

TEST_CASE("MatMulNBits finds the block of each number by an index") {
  const std::string line = kNBits + "1x4{1,10,100,1000} uint8:1x2x1{153,153} 1x2{1,5} ";
  CHECK(result_of(line + "- int32:{1,0,1,0} N=1 K=4 block_size=2") == Floats{5 + 10 + 500 + 1000});
  CHECK_THROWS_AS(run_case(line + "- int32:{2,0,1,0} N=1 K=4 block_size=2"), ValueError);
}

TEST_CASE("MatMulNBits refuses sizes and bits that do not fit") {
  const std::string line = kNBits + "1x4 uint8:1x1x2 {0.5} ";
  CHECK_THROWS_AS(run_case(line + "N=1 K=4 block_size=8"), ShapeError);
  CHECK_THROWS_AS(run_case(line + "N=1 K=4 block_size=4 bits=3"), Unsupported);
  CHECK_THROWS_AS(run_case(line + "N=1 K=0 block_size=4"), ValueError);
  CHECK_THROWS_AS(run_case(kNBits + "1x4 uint8:1x1x2 {1,2} N=1 K=4 block_size=4"), ShapeError);
}
