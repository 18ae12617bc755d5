// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

// Two steps of one sample, one input, one cell; only the cell's gate has a weight, so that the
// other gates are sigmoid(0) = 1/2: c' = (c + tanh(x)) / 2, h' = tanh(c') / 2.
const std::string kTiny = "LSTM 2x1x1{1,2} 1x4x1{0,0,0,1} 1x4x1{0,0,0,0}";

double next_cell(double c, double x) { return 0.5 * (c + std::tanh(x)); }
double hidden(double c) { return 0.5 * std::tanh(c); }

}  // namespace

TEST_CASE("LSTM remembers half and adds half of what is new") {
  const double c1 = next_cell(0, 1), c2 = next_cell(c1, 2);
  const auto runner = run_case(kTiny + " outputs=3");
  CHECK(runner.output(0).tensor().shape() == Shape{2, 1, 1, 1});
  CHECK(runner.output(0).tensor().data<float>()[0] == Approx(hidden(c1)));
  CHECK(runner.output(0).tensor().data<float>()[1] == Approx(hidden(c2)));
  CHECK(runner.output(1).tensor().item<float>() == Approx(hidden(c2)));
  CHECK(runner.output(2).tensor().item<float>() == Approx(c2));
}

TEST_CASE("in reverse it begins at the end") {
  const auto runner = run_case(kTiny + " direction=reverse outputs=3");
  const double c1 = next_cell(0, 2), c2 = next_cell(c1, 1);
  CHECK(runner.output(0).tensor().data<float>()[1] == Approx(hidden(c1)));
  CHECK(runner.output(0).tensor().data<float>()[0] == Approx(hidden(c2)));
  CHECK(runner.output(2).tensor().item<float>() == Approx(c2));
}

TEST_CASE("it begins with the given state") {
  const auto runner = run_case(kTiny + " - - 1x1x1{0} 1x1x1{3} outputs=3");
  CHECK(runner.output(2).tensor().item<float>() == Approx(next_cell(next_cell(3, 1), 2)));
}

TEST_CASE("a shorter sample stops at its end, in either direction") {
  const std::string line = "LSTM 2x1x1{1,2} 1x4x1{0,0,0,1} 1x4x1{0,0,0,0} - int32:{1} outputs=3";
  for (const std::string direction : {" direction=forward", " direction=reverse"}) {
    const auto runner = run_case(line + direction);
    CHECK(runner.output(0).tensor().data<float>()[0] == Approx(hidden(next_cell(0, 1))));
    CHECK(runner.output(0).tensor().data<float>()[1] == 0);
    CHECK(runner.output(2).tensor().item<float>() == Approx(next_cell(0, 1)));
  }
}

TEST_CASE("clip bounds what enters the activations") {
  const auto runner = run_case(kTiny + " clip=0.5 outputs=3");
  CHECK(runner.output(2).tensor().item<float>() == Approx(next_cell(next_cell(0, 0.5), 0.5)));
}

TEST_CASE("other activations are used as named") {
  const auto runner =
      run_case(kTiny + " activations=Sigmoid,Relu,Affine activation_alpha=3 outputs=3");
  const double c2 = 0.5 * (0.5 * 1) + 0.5 * 2;
  CHECK(runner.output(2).tensor().item<float>() == Approx(c2));
  CHECK(runner.output(1).tensor().item<float>() == Approx(0.5 * 3 * c2));
}

TEST_CASE("the batch may come first") {
  const auto y = result_of("LSTM 2x1x1{1,2} 1x4x1{0,0,0,1} 1x4x1{0,0,0,0} layout=1");
  CHECK(y.at(0) == Approx(hidden(next_cell(0, 1))));
  CHECK(y.at(1) == Approx(hidden(next_cell(0, 2))));
}

TEST_CASE("LSTM refuses what does not fit") {
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x2 1x4x1"), ShapeError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 1x4"), ShapeError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 direction=bidirectional"), ShapeError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 hidden_size=2"), ShapeError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 direction=sideways"), ValueError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 activations=Sigmoid,Tanh"), ValueError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 activations=Sigmoid,Tanh,Sine"), ValueError);
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 - int32:{3}"), ValueError);
}

TEST_CASE("LSTM's work is that of its products and of its cell") {
  // Two steps of one sample: 4 gates of 2 products and sums; 4 sums, 5 functions, 3 products and
  // one sum in the cell.
  CHECK(run_case("LSTM 2x1x1 1x4x1 1x4x1").cost().flop == 2 * (4 * 2 * 2 + 4 + 5 + 4));
}

TEST_CASE("LSTM refuses lengths of another type") {
  CHECK_THROWS_AS(run_case("LSTM 2x1x1 1x4x1 1x4x1 - int64:{1}"), TypeError);
}
