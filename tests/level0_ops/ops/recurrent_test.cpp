// SPDX-License-Identifier: Apache-2.0
// RNN and GRU, and what they share with LSTM: closed forms, ONNX Runtime's results, refusals.
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

// Two samples, three steps, one input and two cells.
const std::string kX = " 3x2x1{-0.6,-0.1,0.4,0.9,-0.5,0}";
const std::string kH = " 1x2x2{-0.3,0.4,-0.8,-0.1}";

const std::string kRnn = kX + " 1x2x1{-0.8,-0.1} 1x2x2{-0.5,0.6,-0.2,0.9} 1x4{-0.4,-0.1,0.2,0.5}";
const std::string kTwoRnns = kX +
                             " 2x2x1{-0.8,-0.1,0.6,-0.6} 2x2x2{-0.5,0.6,-0.2,0.9,0.1,-0.7,0.4,-0.4}"
                             " 2x4{-0.4,-0.1,0.2,0.5,0.8,-0.8,-0.5,-0.2}";
const std::string kTwoStates = " 2x2x2{-0.3,0.4,-0.8,-0.1,0.6,-0.6,0.1,0.8}";

const std::string kGru = kX +
                         " 1x6x1{-0.8,-0.1,0.6,-0.6,0.1,0.8}"
                         " 1x6x2{-0.5,0.6,-0.2,0.9,0.1,-0.7,0.4,-0.4,0.7,-0.1,-0.9,0.2}"
                         " 1x12{-0.4,-0.1,0.2,0.5,0.8,-0.8,-0.5,-0.2,0.1,0.4,0.7,-0.9}";

const std::string kLstm =
    kX +
    " 1x8x1{-0.8,-0.1,0.6,-0.6,0.1,0.8,-0.4,0.3}"
    " 1x8x2{-0.5,0.6,-0.2,0.9,0.1,-0.7,0.4,-0.4,0.7,-0.1,-0.9,0.2,-0.6,0.5,-0.3,0.8}"
    " 1x16{-0.4,-0.1,0.2,0.5,0.8,-0.8,-0.5,-0.2,0.1,0.4,0.7,-0.9,-0.6,-0.3,0,0.3}";
const std::string kC = " 1x2x2{-0.7,-0.2,0.3,0.8}";

/// `expected` is ONNX Runtime's, of Y_h, or of Y, Y_h and Y_c. Its exponentials are approximations:
/// some ulps of 1 over three steps.
void expect(const std::string& line, const std::string& expected) {
  INFO(line);
  const std::string outputs = line.starts_with("LSTM") ? " outputs=3 -> " : " outputs=2 -> ";
  for (const auto& record : test_forward(parse_case(line + outputs + expected), "reference",
                                         {.tolerance = ForwardTolerance{1e-5, 2e-6}})) {
    INFO(record.reason);
    CHECK(record.status == Status::passed);
  }
}

}  // namespace

TEST_CASE("RNN is the activation of a sum") {
  const auto y = result_of("RNN 2x1x1{1,2} 1x1x1{3} 1x1x1{0.5} 1x2{0.1,0.2} - 1x1x1{4}");
  const double first = std::tanh(3 + 0.5 * 4 + 0.1 + 0.2);
  CHECK(y.at(0) == Approx(first));
  CHECK(y.at(1) == Approx(std::tanh(6 + 0.5 * first + 0.1 + 0.2)));
}

TEST_CASE("GRU goes as far from its state as the update gate lets it") {
  // Gates z, r, n; without weights all sums are biases.
  const std::string line = "GRU 1x1x1{0} 1x3x1{0,0,0} 1x3x1{0,0,1} 1x6{1,-1,0.5,0,0,2} - 1x1x1{3}";
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double z = sigmoid(1), r = sigmoid(-1);
  CHECK(result_of(line).at(0) == Approx((1 - z) * std::tanh(r * 3 + 0.5 + 2) + z * 3));
  const double after = std::tanh(0.5 + r * (3 + 2));
  CHECK(result_of(line + " linear_before_reset=1").at(0) == Approx((1 - z) * after + z * 3));
}

TEST_CASE("RNN agrees with ONNX Runtime") {
  expect("RNN" + kTwoRnns + " int32:{3,1}" + kTwoStates +
             " direction=bidirectional activations=Relu,Tanh",
         "3x2x2x2{0.6700001,0.88,0.22,0.48,0.4840628,-0.0886929,-0.3004371,-0.8396542,0,1.018,0,0,"
         "0.6268359,-0.7508476,0,0,0.8108,1.3662,0,0,0.4462436,-0.216518,0,0}"
         " 2x2x2{0.8108,1.3662,0.22,0.48,0.4840628,-0.0886929,-0.3004371,-0.8396542}");
  expect("RNN" + kRnn + " -" + kH + " activations=LeakyRelu activation_alpha=0.3 direction=reverse",
         "- 1x2x2{0.9389501,1.40008,0.4092,1.08698}");
  expect("RNN" + kTwoRnns + " -" + kTwoStates +
             " activations=Affine,ScaledTanh activation_alpha=0.5x0.7 activation_beta=0.1x1.5"
             " direction=bidirectional",
         "- 2x2x2{0.3705375,0.55145,0.193725,0.5052,0.402598,-0.1680618,0.5774508,-0.3763969}");
}

TEST_CASE("GRU agrees with ONNX Runtime") {
  expect("GRU" + kGru + " int32:{1,3}" + kH + " direction=reverse",
         "3x1x2x2{0.2927858,-0.2211643,0.9466543,-0.9274985,0,0,0.8615857,-0.7480329,0,0,"
         "0.2370305,-0.5246359} 1x2x2{0.2927858,-0.2211643,0.9466543,-0.9274985}");
  expect("GRU" + kGru + " int32:{2,3}" + kH + " linear_before_reset=1",
         "- 1x2x2{0.7642486,-0.6208509,0.9182411,-0.8771219}");
  expect("GRU@7" + kGru + " -" + kH + " linear_before_reset=1",
         "- 1x2x2{0.8819664,-0.8880914,0.9182411,-0.8771219}");
  expect("GRU" + kGru + " -" + kH +
             " activations=HardSigmoid,Softsign activation_alpha=0.3 activation_beta=0.4",
         "- 1x2x2{0.632269,-0.6819389,0.6449051,-0.6602663}");
}

TEST_CASE("LSTM agrees with ONNX Runtime") {
  expect("LSTM" + kLstm + " -" + kH + kC + " 1x6{0,0.4,0.8,-0.7,-0.3,0.1} input_forget=1",
         "- 1x2x2{-0.123595,0.0532244,-0.1468003,0.09039034}"
         " 1x2x2{-0.2127811,0.1255113,-0.2273277,0.2707618}");
  expect("LSTM" + kLstm + " -" + kH + kC + " clip=0.3 direction=reverse",
         "- 1x2x2{-0.1195618,0.04853925,-0.1000311,0.1141408}"
         " 1x2x2{-0.2112214,0.1045021,-0.1759289,0.2749392}");
  expect("LSTM" + kLstm + " -" + kH +
             " activations=Sigmoid,Elu,ThresholdedRelu activation_alpha=0.5x0.05",
         "- 1x2x2{0,0.02432176,0,0.06646329} 1x2x2{-0.08347138,0.05207767,-0.1251202,0.1688031}");
  expect("LSTM" + kLstm + " -" + kH + " activations=Sigmoid,Softplus,Relu",
         "- 1x2x2{0.3236826,0.2662415,0.2569787,0.2579329}"
         " 1x2x2{0.5275236,0.5519508,0.3746682,0.6368791}");
}

TEST_CASE("a sample without steps keeps its initial state") {
  CHECK(result_of("RNN" + kRnn + " int32:{0,0}" + kH, 0) == Floats(12, 0));
  CHECK(result_of("RNN" + kRnn + " int32:{0,0}" + kH + " outputs=2", 1) ==
        Floats{-0.3f, 0.4f, -0.8f, -0.1f});
  CHECK(result_of("GRU 0x1x2 1x3x2 1x3x1 - - 1x1x1{7} outputs=2", 1) == Floats{7});
}

TEST_CASE("recurrent operators take nothing of everything") {
  CHECK(shape_of("RNN 3x0x2 1x4x2 1x4x4") == "3x1x0x4");
  CHECK(shape_of("GRU 3x2x2 1x0x2 1x0x0") == "3x1x2x0");
  CHECK(result_of("LSTM 2x1x0 1x4x0 1x4x1") == Floats{0, 0});
  CHECK(shape_of("LSTM 1048576x0x2 1x8x2 1x8x2") == "1048576x1x0x2");
}

TEST_CASE("small floats are computed in float32 and rounded once") {
  const Floats wide = result_of("RNN 1x1x2{1,2} 1x1x2{0.5,-0.25} 1x1x1{0} 1x2{0.125,0}");
  const auto half = result_of<Float16>(
      "RNN float16:1x1x2{1,2} float16:1x1x2{0.5,-0.25} float16:1x1x1{0} float16:1x2{0.125,0}");
  CHECK(float(half.at(0)) == float(Float16(wide.at(0))));
  const auto brain = result_of<BFloat16>(
      "RNN bfloat16:1x1x2{1,2} bfloat16:1x1x2{0.5,-0.25} bfloat16:1x1x1{0} bfloat16:1x2{0.125,0}");
  CHECK(float(brain.at(0)) == float(BFloat16(wide.at(0))));
}

TEST_CASE("the first versions count the output as something to ask for") {
  CHECK(result_of("RNN@1 1x1x1{1} 1x1x1{2} 1x1x1{0} output_sequence=1").at(0) ==
        Approx(std::tanh(2)));
  CHECK(result_of("GRU@1 1x1x1{1} 1x3x1{0,0,0} 1x3x1{0,0,0} - - 1x1x1{4} outputs=2", 1).at(0) ==
        Approx(2));
}

TEST_CASE("recurrent work is that of the products and of the cell") {
  // Two steps of one sample: a product and a sum with W and with R each gate.
  CHECK(run_case("RNN 2x1x1 1x1x1 1x1x1").cost().flop == 2 * (4 + 2));
  CHECK(run_case("GRU 2x1x1 1x3x1 1x3x1 1x6").cost().flop == 2 * (12 + 11 + 6));
}

TEST_CASE("recurrent operators refuse what does not fit") {
  CHECK_THROWS_AS(run_case("RNN 2x1 1x1x1 1x1x1"), ShapeError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x1x1 1x1"), ShapeError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x4x1 1x1x1"), ShapeError);
  CHECK_THROWS_AS(run_case("GRU 2x1x1 1x4x1 1x4x1"), ShapeError);
  CHECK_THROWS_AS(run_case("GRU 2x1x1 1x3x1 1x3x1 1x6 - 1x2x1"), ShapeError);
  CHECK_THROWS_AS(run_case("GRU 2x1x1 1x3x1 1x3x1 hidden_size=2"), ShapeError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x1x1 1x1x1 direction=sideways"), ValueError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x1x1 1x1x1 clip=-1"), ValueError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x1x1 1x1x1 activations=Sine"), ValueError);
  CHECK_THROWS_AS(run_case("GRU 2x1x1 1x3x1 1x3x1 activations=Sigmoid"), ValueError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x1x1 1x1x1 - int32:{3}"), ValueError);
  CHECK_THROWS_AS(run_case("RNN 2x1x1 1x1x1 1x1x1 - int32:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("GRU 4611686018427387904x4611686018427387904x0 1x0x0 1x0x0"),
                  ShapeError);
}
