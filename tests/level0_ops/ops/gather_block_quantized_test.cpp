// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/level0_ops/typed_cases.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

const std::string kName = "com.microsoft.GatherBlockQuantized ";

}  // namespace

TEST_CASE("GatherBlockQuantized dequantizes the rows that it takes") {
  // Two rows of two blocks, around 128.
  const std::string table = kName + "uint8:2x4{127,130,131,124,133,134,135,120} ";
  const std::string end = " block_size=2 bits=8";
  CHECK(result_of(table + "int64:{1,0} 2x2{1,10,100,1000}" + end) ==
        Floats{500, 600, 7000, -8000, -1, 2, 30, -40});
  CHECK(result_of(table + "int64:{0} 2x2{1,10,100,1000} uint8:2x2{129,130,0,0}" + end) ==
        Floats{-2, 1, 10, -60});
  CHECK(shape_of(table + "int64:3x1{1,0,-1} 2x2" + end) == "3x1x4");
}

TEST_CASE("bytes hold several elements, the first in the low bits, around the middle") {
  // 0x21 is {1, 2}, 0xf8 {8, 15}
  const std::string table = kName + "uint8:2x1{33,248} int64:{0,1} 2x1{1,10} ";
  CHECK(result_of(table + "block_size=16") == Floats{-7, -6, 0, 70});
  // The low bits of the byte of zero points count: 3 and 5.
  CHECK(result_of(table + "uint8:2x1{195,5} block_size=16") == Floats{-2, -1, 30, 100});
  // 0xe4 is {0, 1, 2, 3}
  CHECK(result_of(kName + "uint8:1x1{228} int64:{0} 1x1{1} block_size=16 bits=2") ==
        Floats{-2, -1, 0, 1});
}

TEST_CASE("elements of four bits lie around zero") {
  OperatorCase one = parse_case(kName + "int8:1x2{-8,7} int64:{0} 1x1{2} block_size=16");
  one.inputs[0] = testing::as_type(one.inputs[0].tensor(), DType::int4);
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
  runner.forward();
  const auto y = runner.output(0).tensor().span<float>();
  CHECK(Floats(y.begin(), y.end()) == Floats{-16, 14});
}

TEST_CASE("other dimensions than the first are gathered from, before the blocks and behind them") {
  const std::string table = kName + "uint8:2x2x2{129,130,131,132,133,134,135,127} int64:1x1{1} ";
  const std::string end = " block_size=2 bits=8 gather_axis=1 quantize_axis=";
  CHECK(result_of(table + "1x2x2{1,1,10,10}" + end + "0") == Floats{30, 40, 70, -10});
  CHECK(result_of(table + "2x2x1{1,10,100,1000}" + end + "2") == Floats{30, 40, 7000, -1000});
}

TEST_CASE("GatherBlockQuantized refuses blocks of what is gathered, and odd widths") {
  CHECK_THROWS_AS(run_case(kName + "uint8:2x2 int64:{0} 1x2 block_size=2 quantize_axis=0"),
                  ValueError);
  CHECK_THROWS_AS(run_case(kName + "uint8:2x2 int64:{0} 2x1 block_size=16 bits=3"), ValueError);
}
