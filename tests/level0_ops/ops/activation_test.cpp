// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {
float at(const std::string& op, const std::string& x, const std::string& rest = "") {
  return result_of(op + " {" + x + "} " + rest).at(0);
}
}  // namespace

TEST_CASE("activations below and above zero") {
  CHECK(result_of("Relu {-1,0,2}") == Floats{0, 0, 2});
  CHECK(result_of("LeakyRelu {-1,0,2} alpha=0.25") == Floats{-0.25, 0, 2});
  CHECK(result_of("ThresholdedRelu {0.5,1,2}") == Floats{0, 0, 2});
  CHECK(result_of("HardSigmoid {-3,0,1,3}") == Floats{0, 0.5, 0.7f, 1});
  CHECK(std::isnan(result_of("HardSigmoid {nan}").front()));
  CHECK(result_of("HardSwish {-4,0,3,6}") == Floats{0, 0, 3, 6});
  CHECK(result_of("Softsign {-1,0,3}") == Floats{-0.5, 0, 0.75});
}

TEST_CASE("activations with exponentials follow their definitions") {
  CHECK(at("Sigmoid", "0") == 0.5f);
  CHECK(at("Sigmoid", "1") == Approx(1 / (1 + std::exp(-1.0))));
  CHECK(at("Tanh", "0.5") == Approx(std::tanh(0.5)));
  CHECK(at("Elu", "-1", "alpha=2") == Approx(2 * (std::exp(-1.0) - 1)));
  CHECK(at("Elu", "3", "alpha=2") == 3);
  CHECK(at("Celu", "-1", "alpha=2") == Approx(2 * (std::exp(-0.5) - 1)));
  CHECK(at("Selu", "2") == Approx(2 * 1.05070098));
  CHECK(at("Selu", "-1") == Approx(1.05070098 * 1.67326324 * (std::exp(-1.0) - 1)));
  CHECK(at("Softplus", "0") == Approx(std::log(2.0)));
  CHECK(at("Swish", "1") == Approx(1 / (1 + std::exp(-1.0))));
  CHECK(at("Mish", "1") == Approx(std::tanh(std::log(1 + std::exp(1.0)))));
}

TEST_CASE("far from zero nothing overflows") {
  CHECK(at("Sigmoid", "-1000") == 0);
  CHECK(at("Sigmoid", "1000") == 1);
  CHECK(at("Softplus", "1000") == 1000);
  CHECK(at("Softplus", "-1000") == 0);
  CHECK(at("Mish", "1000") == 1000);
}

TEST_CASE("NaN goes through") {
  for (const std::string op : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "Selu", "Softsign"}) {
    CHECK(std::isnan(at(op, "nan")));
  }
}

TEST_CASE("the gradients of activations agree with central differences") {
  for (const std::string op :
       {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "ThresholdedRelu", "Elu", "Celu", "Selu",
        "Softplus", "Softsign", "HardSigmoid", "HardSwish", "Swish", "Mish"}) {
    check_gradient(op + " 5x7", 1);
  }
  check_gradient("Elu 20 alpha=0.5", 1);
  check_gradient("Swish 20 alpha=-1.5", 1);
}

TEST_CASE("Relu takes integers that may be below zero") {
  CHECK(result_of<std::int8_t>("Relu int8:{-128,0,3}") == std::vector<std::int8_t>{0, 0, 3});
}

TEST_CASE("other activations refuse integers") {
  CHECK_THROWS_AS(run_case("Sigmoid int32:3"), TypeError);
}
