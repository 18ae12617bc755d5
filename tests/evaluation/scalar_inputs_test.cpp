// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/scalar_inputs.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

TEST_CASE("a number that all samples of a batch have is one number of the network") {
  Network network("rate");
  network.add_input("x", DType::float32, {"N", 4});
  network.add_input("sr", DType::int64, {});
  network.add_node("Cast", {"sr"}, {"rate"}, {{"to", std::int64_t{1}}});
  network.add_node("Mul", {"x", "rate"}, {"y"});
  network.add_output("y");
  const auto scalars = scalar_inputs(network);
  CHECK(scalars == std::set<std::string>{"sr"});
  const Tensor x = Tensor::zeros(DType::float32, {2, 4});
  const ValueMap same =
      with_scalars({{"x", x}, {"sr", Tensor::vector<std::int64_t>({8, 8})}}, scalars);
  CHECK(same.at("sr").tensor().shape() == Shape());
  CHECK(same.at("sr").tensor().item<std::int64_t>() == 8);
  CHECK(same.at("x").tensor().shape() == Shape({2, 4}));
  CHECK_THROWS_WITH(
      with_scalars({{"sr", Tensor::vector<std::int64_t>({8, 16})}}, scalars),
      Catch::Contains("'sr' is one number for a whole batch") && Catch::Contains("one sample"));
}

}  // namespace
}  // namespace d5::detail
