// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/classification.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const Tensor& tensor) {
  const auto all = tensor.span<std::string>();
  return {all.begin(), all.end()};
}

TEST_CASE("the best classes of each sample are their scores and indices, the best first") {
  const Tensor scores = Tensor::of<float>({2, 3}, {0.5f, 0.1f, 2, -1, -3, -2});
  const Tensor best = detail::best_classes("y", scores, 2);
  CHECK(best.shape() == Shape{2, 2});
  CHECK(texts_of(best) == Texts{"2:2", "0.5:0", "-1:0", "-2:2"});
  CHECK(detail::best_classes("y", scores, 99).shape() == Shape{2, 3});  // as many as there are
  // Behind the sample the shape does not matter.
  const Tensor maps = Tensor::of<float>({1, 2, 2}, {4, 3, 2, 9});
  CHECK(texts_of(detail::best_classes("y", maps, 1)) == Texts{"9:3"});
}

TEST_CASE("of equal scores the first comes first, and NaN comes last") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor scores = Tensor::of<float>({1, 5}, {nan, 1, 1, -inf, inf});
  CHECK(texts_of(detail::best_classes("y", scores, 5)) ==
        Texts{"inf:4", "1:1", "1:2", "-inf:3", "nan:0"});
}

TEST_CASE("scores of any number type are classified, and read back as they were") {
  CHECK(texts_of(detail::best_classes("y", Tensor::of<std::int64_t>({1, 2}, {-4, 7}), 1)) ==
        Texts{"7:1"});
  CHECK(texts_of(detail::best_classes("y", Tensor::of<double>({1, 1}, {0.1}), 1)) ==
        Texts{"0.1:0"});
  CHECK(texts_of(detail::best_classes(
            "y", Tensor::of<Float16>({1, 2}, {Float16(0.5f), Float16(1.5f)}), 1)) ==
        Texts{"1.5:1"});
  CHECK(detail::best_classes("y", Tensor::zeros(DType::float32, {0, 3}), 2).elements() == 0);
}

TEST_CASE("what has no classes is refused by its name") {
  const Tensor scores = Tensor::zeros(DType::float32, {1, 3});
  CHECK_THROWS_WITH(detail::best_classes("y", scores, -1),
                    "output 'y': classification is -1, expected 1 or more");
  CHECK_THROWS_AS(detail::best_classes("y", Tensor::scalar(1.0f), 1), ShapeError);
  CHECK_THROWS_AS(detail::best_classes("y", Tensor::vector<std::string>({"a"}), 1), TypeError);
}

}  // namespace
}  // namespace d5
