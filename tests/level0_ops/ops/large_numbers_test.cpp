// SPDX-License-Identifier: Apache-2.0
// Normalizing operators with numbers whose squares, differences or inverses overflow the element
// type. All values are closed forms.
#include <cmath>

#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

void near(const std::string& line, const std::vector<double>& expected) {
  INFO(line);
  const Floats got = result_of(line);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(double(got[i]) == Approx(expected[i]).epsilon(1e-6).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("normalization by the statistics of rows holds for all that float32 holds") {
  for (const std::string size : {"1e30", "3e38", "1e-30", "1e-39"}) {
    const std::string x = "{-" + size + "," + size + "} ", end = " epsilon=0";
    near("LayerNormalization 1x2" + x + "{1,1} {0,0}" + end, {-1, 1});
    near("RMSNormalization 1x2" + x + "{1,1}" + end, {-1, 1});
    near("InstanceNormalization 1x1x2" + x + "{1} {0}" + end, {-1, 1});
    near("GroupNormalization 1x2x1" + x + "{1,1} {0,0} num_groups=1" + end, {-1, 1});
    near("LpNormalization 1x2" + x + "p=2", {-std::sqrt(0.5), std::sqrt(0.5)});
    near("LpNormalization 1x2" + x + "p=1", {-0.5, 0.5});
    near("ai.onnx.ml.Normalizer 1x2" + x + "norm=L2", {-std::sqrt(0.5), std::sqrt(0.5)});
  }
  near("MeanVarianceNormalization 2x1x1x1{-1e30,1e30}", {-1, 1});
}

TEST_CASE("a row far from zero keeps what it differs by") {
  const double deviation = std::sqrt((64.0 + 4 + 100) / 27);
  const std::string x = "{16777216,16777218,16777222} ";  // their mean is no float
  const std::vector<double> y{-8 / (3 * deviation), -2 / (3 * deviation), 10 / (3 * deviation)};
  near("LayerNormalization 1x3" + x + "{1,1,1} {0,0,0} epsilon=0", y);
  near("InstanceNormalization 1x1x3" + x + "{1} {0} epsilon=0", y);
  near("GroupNormalization 1x3x1" + x + "{1,1,1} {0,0,0} num_groups=1 epsilon=0", y);
}

TEST_CASE("sums, norms and means are those of the numbers, not of what their type holds") {
  near("ReduceL2 {3e30,4e30}", {5e30F});
  near("ReduceL2 {3e-30,4e-30}", {5e-30F});
  near("ReduceMean {3e38,3e38}", {3e38F});
  near("ReduceLogSumExp {1000,1000}", {1000 + std::log(2.0)});
  near("ReduceLogSumExp {-1000,-1000}", {-1000 + std::log(2.0)});
  near("Softmax 1x2{1e30,1e30}", {0.5, 0.5});
  near("LogSoftmax 1x2{-3e38,-3e38}", {-std::log(2.0), -std::log(2.0)});
  near("LpPool 1x1x2{3e30,4e30} kernel_shape=2 p=2", {5e30F});
  near("LpPool 1x1x2{3e-30,4e-30} kernel_shape=2 p=2", {5e-30F});
  near("GlobalLpPool 1x1x2{3e30,4e30} p=2", {5e30F});
  near("AveragePool 1x1x2{3e38,3e38} kernel_shape=2", {3e38F});
  near("GlobalAveragePool 1x1x2{3e38,3e38}", {3e38F});
  // x / (1 + x^2)^0.5 is a sign.
  near("LRN 1x1x2{-1e30,1e30} size=1 alpha=1 beta=0.5", {-1, 1});
  near("com.microsoft.CDist 1x2{3e30,4e30} 1x2{0,0} metric=euclidean", {5e30F});
}
