// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

const std::string kQuantizedLstm = "com.microsoft.DynamicQuantizeLSTM ";

}  // namespace

TEST_CASE("DynamicQuantizeLSTM quantizes its input as a whole") {
  // One input, one cell; only the cell's gate has a weight, 3 times 1/3. Of {0.5, 2} the unit is
  // 2/255, so that 0.5 becomes 64 of them; the other gates are sigmoid(0) = 1/2.
  const auto c = result_of(kQuantizedLstm +
                               "2x1x1{0.5,2} uint8:1x1x4{0,0,0,3} uint8:1x1x4{0,0,0,0} - - - - - "
                               "{0.33333333} uint8:{0} {1} uint8:{0} outputs=3",
                           2);
  const double first = 0.5 * std::tanh(64 * 2 / 255.0);
  CHECK(c.at(0) == Approx(0.5 * (first + std::tanh(2.0))));
}

TEST_CASE("DynamicQuantizeLSTM quantizes its states before they meet R") {
  // X is zero, R reads the first state for both cells' gates. Of {1, 0.3} the unit is 1/255; that
  // of 0.3 is 76.5, which is rounded to 76.
  const std::string line = kQuantizedLstm +
                           "1x1x1{0} int8:1x1x8{0,0,0,0,0,0,0,0} int8:1x2x8{"
                           "0,0,0,0,0,0,0,0,"
                           "0,0,0,0,0,0,4,2} - - 1x1x2{1,0.3} - - {1} int8:{0} "
                           "{0.5} int8:{0} outputs=3";
  const auto c = result_of(line, 2);
  CHECK(c.at(0) == Approx(0.5 * std::tanh(2 * 76 / 255.0)));
  CHECK(c.at(1) == Approx(0.5 * std::tanh(76 / 255.0)));
}

TEST_CASE("DynamicQuantizeLSTM has zero points and scales a direction, or a column of weights") {
  // Weights of 2 x 8 for each of two directions; in the second they count twice as much.
  const std::string w = "int8:2x1x4{5,5,5,6,7,7,7,8} int8:2x1x4{0,0,0,0,0,0,0,0} - - - - - ";
  const auto by_direction = result_of(kQuantizedLstm + "1x1x1{1} " + w +
                                          "{0.5,1} int8:{5,7} {1,1} int8:{0,0} "
                                          "direction=bidirectional outputs=3",
                                      2);
  CHECK(by_direction.at(0) == Approx(0.5 * std::tanh(0.5)));
  CHECK(by_direction.at(1) == Approx(0.5 * std::tanh(1.0)));
  const auto by_column = result_of(
      kQuantizedLstm + "1x1x1{1} " + w +
          "2x4{1,1,1,0.5,1,1,1,1} int8:2x4{5,5,5,5,7,7,7,7} "
          "2x4{1,1,1,1,1,1,1,1} int8:2x4{0,0,0,0,0,0,0,0} direction=bidirectional outputs=3",
      2);
  CHECK(by_column == by_direction);
}

TEST_CASE("DynamicQuantizeLSTM is an LSTM where quantizing loses nothing") {
  // Ones and zeros are exact. W and R are the transposed of LSTM's.
  const auto quantized =
      result_of(kQuantizedLstm +
                "1x1x2{1,0} int8:1x2x4{1,2,3,4,5,6,7,8} int8:1x1x4{1,-1,2,-2} 1x8{1,1,1,1,1,1,1,1} "
                "- 1x1x1{1} 1x1x1{2} - {0.25} int8:{0} {0.5} int8:{0} outputs=3");
  const auto plain = result_of(
      "LSTM 1x1x2{1,0} 1x4x2{0.25,1.25,0.5,1.5,0.75,1.75,1,2} 1x4x1{0.5,-0.5,1,-1} "
      "1x8{1,1,1,1,1,1,1,1} - 1x1x1{1} 1x1x1{2} outputs=3");
  CHECK(quantized.at(0) == Approx(plain.at(0)));
}

TEST_CASE("DynamicQuantizeLSTM refuses scales of another size, and weights that lie as LSTM's") {
  const std::string rest = " - - - - - {1,1} uint8:{0} {1} uint8:{0} outputs=3";
  CHECK_THROWS_AS(run_case(kQuantizedLstm + "2x1x1 uint8:1x1x4 uint8:1x1x4" + rest), ShapeError);
  CHECK_THROWS_AS(
      run_case(kQuantizedLstm +
               "2x1x3 uint8:1x4x3 uint8:1x4x1 - - - - - {1} uint8:{0} {1} uint8:{0} outputs=3"),
      ShapeError);
}
