// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/dataset.hpp"

using namespace d5;

namespace {

DatasetPair open(const std::string& fields, const char* cached = "false") {
  return open_dataset("synthetic",
                      {{"fields", fields}, {"size", 200}, {"test_size", 20}, {"cached", cached}});
}

std::vector<Tensor> read(const Dataset& dataset, std::vector<std::int64_t> indices) {
  std::vector<Tensor> batch = empty_batch(dataset, std::int64_t(indices.size()));
  dataset.read(indices, {}, batch);
  return batch;
}

}  // namespace

TEST_CASE("fields are of the types, shapes and laws that their words say") {
  const auto data = open(
      "x float32 10x20 normal 3 0.5, y float64 50 uniform -1 1, label int64 below 4, z uint8 2 "
      "constant 7");
  const auto& fields = data.train->fields();
  REQUIRE(fields.size() == 4);
  CHECK(to_string(fields[0].desc) == "float32 10x20");
  CHECK(fields[2].desc == TensorDesc{DType::int64, {}});
  std::vector<std::int64_t> all(200);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::int64_t(i);
  const auto batch = read(*data.train, all);
  double sum = 0, squares = 0;
  for (const double x : batch[0].span<float>()) {
    sum += x;
    squares += (x - 3) * (x - 3);
  }
  // 40,000 draws: the mean's deviation is 0.0025, the variance's 0.0018; five of them.
  CHECK(sum / 40'000 == Approx(3).margin(0.0125));
  CHECK(squares / 40'000 == Approx(0.25).margin(0.009));
  const auto y = batch[1].span<double>();
  CHECK(std::ranges::all_of(y, [](double v) { return v >= -1 && v < 1; }));
  CHECK(*std::ranges::max_element(y) > 0.9);
  std::array<int, 4> counts{};
  for (const auto label : batch[2].span<std::int64_t>()) ++counts.at(std::size_t(label));
  // 50 expected each, with a deviation of 6.1; five of them.
  for (const int count : counts) CHECK(std::abs(count - 50) <= 31);
  CHECK(std::ranges::all_of(batch[3].span<std::uint8_t>(), [](int v) { return v == 7; }));
}

TEST_CASE("a sample is the same alone, in a batch, in memory, and another one in the other part") {
  const std::string fields = "x float32 5 normal";
  const auto data = open(fields), kept = open(fields, "true");
  const auto alone = read(*data.train, {17}), batch = read(*data.train, {3, 17});
  const auto x = alone[0].span<float>();
  CHECK(std::ranges::equal(x, batch[0].span<float>().subspan(5)));
  CHECK(std::ranges::equal(x, read(*kept.train, {17})[0].span<float>()));
  CHECK_FALSE(std::ranges::equal(x, read(*data.test, {17})[0].span<float>()));
  CHECK_FALSE(std::ranges::equal(x, batch[0].span<float>().first(5)));
}

TEST_CASE("words that say no field are refused") {
  for (const char* bad :
       {"", "x", "x float32", "x float32 3x normal", "x float32 0 normal", "x float32 3 normal 1",
        "x float32 3 normal a b", "x int64 below", "x int64 below 0", "x int64 below 1e300",
        "x int64 normal", "x float32 3"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(open(bad), ValueError);
  }
  CHECK_THROWS_WITH(open("x float32 norml"), Catch::Contains("normal"));
  CHECK_THROWS_AS(open("x flot32 normal"), NotFound);
  CHECK_THROWS_AS(open("x string constant 1"), TypeError);
  CHECK_THROWS_AS(open("x float32 9223372036854775807 normal"), Error);
  CHECK_THROWS_AS(open("x float32 9999999x9999999 normal"), MemoryError);
}
