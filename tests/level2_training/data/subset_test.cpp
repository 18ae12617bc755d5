// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/subset.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"

using namespace d5;

namespace {

/// Sample i is i, in a scalar; its label is i % 3.
std::shared_ptr<const Dataset> subset_numbers(std::int64_t size) {
  std::vector<std::int64_t> values, labels;
  for (std::int64_t i = 0; i < size; ++i) {
    values.push_back(i);
    labels.push_back(i % 3);
  }
  return std::make_shared<TensorDataset>(
      "numbers", std::vector<std::pair<std::string, Tensor>>{{"value", Tensor::vector(values)},
                                                             {"label", Tensor::vector(labels)}});
}

std::vector<std::int64_t> values_of(const Dataset& dataset) { return dataset.labels("value"); }

/// Its random step is its sample's number in the whole.
class Drawing final : public Dataset {
 public:
  [[nodiscard]] std::string name() const override { return "drawing"; }
  [[nodiscard]] std::int64_t size() const override { return 10; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override {
    std::int64_t* value = batch[0].data<std::int64_t>();
    for (const auto index : indices) *value++ = draw.stream("value", index).bits();
  }

 private:
  std::vector<Field> fields_{{"value", {DType::int64, {}}}};
};

std::vector<std::int64_t> drawn_by(const Dataset& dataset, std::vector<std::int64_t> indices) {
  std::vector<Tensor> batch = empty_batch(dataset, std::int64_t(indices.size()));
  dataset.read(indices, {.seed = 4, .epoch = 2}, batch);
  const auto all = batch[0].span<std::int64_t>();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("a subset has its samples in its order, with names, labels and draws of the whole") {
  const SubsetDataset some(subset_numbers(10), {7, 2, 2});
  CHECK(some.size() == 3);
  CHECK(values_of(some) == std::vector<std::int64_t>{7, 2, 2});
  CHECK(some.labels("label") == std::vector<std::int64_t>{1, 2, 2});
  CHECK(some.sample_name(0) == "7");
  CHECK_THROWS_AS(some.sample_name(3), ValueError);
  CHECK_THROWS_AS(SubsetDataset(subset_numbers(10), {10}), ValueError);
  CHECK_THROWS_AS(SubsetDataset(subset_numbers(10), {-1}), ValueError);

  const auto whole = std::make_shared<Drawing>();
  const SubsetDataset drawn(whole, {7, 2});
  CHECK(drawn_by(drawn, {0, 1}) == drawn_by(*whole, {7, 2}));
}

TEST_CASE("a subset of a subset reads what it stands for") {
  const auto inner =
      std::make_shared<SubsetDataset>(subset_numbers(10), std::vector<std::int64_t>{9, 5, 1});
  const SubsetDataset outer(inner, {2, 0});
  CHECK(values_of(outer) == std::vector<std::int64_t>{1, 9});
}

TEST_CASE("the two parts of a split are all samples, each once, by the seed alone") {
  const auto data = subset_numbers(50);
  const DatasetPair parts = split(data, 0.3, 1);
  CHECK(parts.train->size() == 35);
  CHECK(parts.test->size() == 15);
  const auto train = values_of(*parts.train), test = values_of(*parts.test);
  std::set<std::int64_t> all(train.begin(), train.end());
  all.insert(test.begin(), test.end());
  CHECK(all.size() == 50);
  CHECK(std::ranges::is_sorted(train));
  CHECK(values_of(*split(data, 0.3, 1).test) == test);
  CHECK(values_of(*split(data, 0.3, 2).test) != test);
  for (const double share : {0.0, 1.0, -0.5, 0.001, 0.999, double(NAN)}) {
    CHECK_THROWS_AS(split(data, share, 1), ValueError);
  }
}

TEST_CASE("samples are the first ones, or drawn, and no more than there are") {
  const auto data = subset_numbers(10);
  CHECK(values_of(*first_samples(data, 3)) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(first_samples(data, 10) == data);
  CHECK(drawn_samples(data, 11, 1) == data);
  const auto some = values_of(*drawn_samples(data, 4, 1));
  CHECK(std::set(some.begin(), some.end()).size() == 4);
  CHECK(values_of(*drawn_samples(data, 4, 1)) == some);
}

TEST_CASE("a data set's options say which samples its parts have") {
  const DatasetPair whole{subset_numbers(20), subset_numbers(10)};
  DatasetOptions options;
  CHECK(options.parts_of(whole).train == whole.train);
  options.validation = 0.25;
  const DatasetPair parts = options.parts_of({whole.train, nullptr});
  CHECK(parts.train->size() == 15);
  CHECK(parts.test->size() == 5);
  options.train_samples = 3;
  options.test_samples = 2;
  CHECK(options.parts_of(whole).train->size() == 3);
  CHECK(options.parts_of(whole).test->size() == 2);
}
