// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/sampler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"

using namespace d5;

namespace {

/// Samples that are their own number, in two fields.
std::shared_ptr<const Dataset> counted(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::vector<float> pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    values[std::size_t(i)] = i;
    pairs.insert(pairs.end(), {float(i), -float(i)});
  }
  return std::make_shared<TensorDataset>(
      "numbers", std::vector<std::pair<std::string, Tensor>>{
                     {"number", Tensor::vector(values)},
                     {"pair", Tensor::of<float>({count, 2}, std::span<const float>(pairs))}});
}

std::vector<std::int64_t> numbers_of_epoch(Sampler& sampler) {
  std::vector<std::int64_t> seen;
  while (const Batch* batch = sampler.next()) {
    const auto values = batch->values.at("number").tensor().span<std::int64_t>();
    seen.insert(seen.end(), values.begin(), values.end());
  }
  return seen;
}

}  // namespace

TEST_CASE("every sampler that promises it gives every sample exactly once an epoch") {
  int promised = 0;
  for (const auto& [name, entry] : samplers().entries()) {
    for (const std::int64_t count : {1, 7, 12}) {
      for (const std::int64_t batch_size : {1, 4, 20}) {
        CAPTURE(name, count, batch_size);
        Settings settings{{"batch_size", batch_size}};
        entry.offer(settings, "label", "number");
        entry.offer(settings, "copies", 1);
        const auto sampler = entry.make(counted(count), settings);
        if (sampler->law().least == 0) continue;
        CHECK(sampler->law().draws == count);
        ++promised;
        for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
          sampler->reset(epoch);
          const auto seen = numbers_of_epoch(*sampler);
          CHECK(std::int64_t(seen.size()) == count);
          CHECK(std::set<std::int64_t>(seen.begin(), seen.end()).size() == seen.size());
          CHECK(sampler->next() == nullptr);
        }
      }
    }
  }
  CHECK(promised >= 9 * 6);
}

TEST_CASE("a batch says its size, epoch and index, and its fields belong together") {
  const auto sampler = samplers().at("ordered").make(counted(5), {{"batch_size", 2}});
  sampler->seek(3, 1);
  const Batch* batch = sampler->next();
  REQUIRE(batch);
  CHECK(batch->size == 2);
  CHECK(batch->epoch == 3);
  CHECK(batch->index == 1);
  CHECK(batch->values.at("number").tensor().span<std::int64_t>()[0] == 2);
  CHECK(batch->values.at("pair").tensor().shape() == Shape{2, 2});
  CHECK(batch->values.at("pair").tensor().span<float>()[3] == -3.0f);
}

TEST_CASE("the last batch is shorter, or dropped where that was asked") {
  const auto keep = samplers().at("ordered").make(counted(5), {{"batch_size", 2}});
  CHECK(keep->batches() == 3);
  keep->seek(0, 2);
  const Batch* last = keep->next();
  REQUIRE(last);
  CHECK(last->size == 1);
  CHECK(last->values.at("number").tensor().shape() == Shape{1});

  const auto drop =
      samplers().at("ordered").make(counted(5), {{"batch_size", 2}, {"tail", "drop"}});
  CHECK(drop->batches() == 2);
  drop->reset(0);
  CHECK(numbers_of_epoch(*drop) == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("the largest batch that a number can say holds all samples") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto sampler = samplers().at("ordered").make(counted(3), {{"batch_size", most}});
  CHECK(numbers_of_epoch(*sampler) == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("a shuffled order depends on the seed and the epoch alone") {
  const auto order = [](std::uint64_t seed, std::int64_t epoch, std::int64_t batch_size) {
    const auto sampler =
        samplers().at("shuffle").make(counted(50), {{"batch_size", batch_size}, {"seed", seed}});
    sampler->reset(epoch);
    return numbers_of_epoch(*sampler);
  };
  const auto first = order(1, 0, 8);
  CHECK(first == order(1, 0, 8));
  CHECK(first == order(1, 0, 3));
  CHECK(first != order(1, 1, 8));
  CHECK(first != order(2, 0, 8));

  const auto sampler = samplers().at("shuffle").make(counted(50), {{"batch_size", 8}, {"seed", 1}});
  sampler->reset(4);
  (void)numbers_of_epoch(*sampler);
  sampler->reset(0);
  CHECK(numbers_of_epoch(*sampler) == first);
}

TEST_CASE("seeking continues an epoch where it was left") {
  const auto sampler = samplers().at("shuffle").make(counted(20), {{"batch_size", 3}, {"seed", 9}});
  sampler->reset(2);
  auto whole = numbers_of_epoch(*sampler);
  for (std::int64_t index = 0; index <= sampler->batches(); ++index) {
    const auto fresh = samplers().at("shuffle").make(counted(20), {{"batch_size", 3}, {"seed", 9}});
    fresh->seek(2, index);
    const auto begin = whole.begin() + std::min<std::int64_t>(3 * index, 20);
    CHECK(numbers_of_epoch(*fresh) == std::vector<std::int64_t>(begin, whole.end()));
  }
  CHECK_THROWS_AS(sampler->seek(2, sampler->batches() + 1), ValueError);
  CHECK_THROWS_AS(sampler->seek(-1, 0), ValueError);
}

TEST_CASE("next gives the same memory for every full batch") {
  const auto sampler = samplers().at("shuffle").make(counted(12), {{"batch_size", 4}});
  const void* first = sampler->next()->values.at("pair").tensor().raw();
  CHECK(sampler->next()->values.at("pair").tensor().raw() == first);
  sampler->reset(1);
  CHECK(sampler->next()->values.at("pair").tensor().raw() == first);
}

TEST_CASE("options out of range are refused") {
  const auto make = [](std::int64_t count, const Settings& settings) {
    return samplers().at("ordered").make(counted(count), settings);
  };
  CHECK_THROWS_AS(make(0, {}), ValueError);
  CHECK_THROWS_AS(make(5, {{"batch_size", 0}}), ValueError);
  CHECK_THROWS_AS(make(5, {{"batch_size", 8}, {"tail", "drop"}}), ValueError);
  CHECK_THROWS_AS(samplers().at("shufle"), NotFound);
}

TEST_CASE("a dataset refuses indices and tensors that do not fit") {
  const auto dataset = counted(3);
  std::vector<Tensor> batch{Tensor::empty(DType::int64, {1}),
                            Tensor::empty(DType::float32, {1, 2})};
  const auto read = [&](std::int64_t index) { dataset->read(std::span(&index, 1), {}, batch); };
  CHECK_NOTHROW(read(2));
  CHECK_THROWS_AS(read(3), ValueError);
  CHECK_THROWS_AS(read(-1), ValueError);
  batch[1] = Tensor::empty(DType::float32, {2, 1});
  CHECK_THROWS_AS(read(0), ShapeError);
  batch[1] = Tensor::empty(DType::float64, {1, 2});
  CHECK_THROWS_AS(read(0), TypeError);
  batch.pop_back();
  CHECK_THROWS_AS(read(0), ShapeError);
}

TEST_CASE("ranks that take batches have every sample once, in the batches of one rank alone") {
  for (const std::int64_t count : {1, 7, 12}) {
    for (const int ranks : {1, 2, 3, 4, 5}) {
      for (const std::string tail : {"keep", "drop"}) {
        if (tail == "drop" && count < 3) continue;
        CAPTURE(count, ranks, tail);
        const Settings settings{{"batch_size", 3}, {"tail", tail}};
        const auto alone = samplers().at("shuffle").make(counted(count), settings);
        std::vector<std::shared_ptr<Sampler>> parts;
        std::int64_t batches = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          parts.push_back(samplers().at("shuffle").make(counted(count), settings));
          parts.back()->take_batches(rank, ranks);
          batches += parts.back()->batches();
        }
        CHECK(batches == alone->batches());
        for (std::int64_t i = 0; const Batch* expected = alone->next(); ++i) {
          Sampler& part = *parts[std::size_t(i % ranks)];
          const Batch* batch = part.next();
          REQUIRE(batch);
          CHECK(batch->index == i / ranks);
          CHECK(batch->size == expected->size);
          CHECK(std::ranges::equal(batch->samples, expected->samples));
        }
        for (const auto& part : parts) {
          CHECK(part->next() == nullptr);
          CHECK(part->law().least == (ranks == 1 ? 1 : 0));
        }
        alone->reset(0);
        parts.back()->take_batches(0, 1);  // all again
        parts.back()->reset(0);
        CHECK(numbers_of_epoch(*parts.back()) == numbers_of_epoch(*alone));
      }
    }
  }
  const auto sampler = samplers().at("ordered").make(counted(3), {{"batch_size", 3}});
  CHECK_THROWS_AS(sampler->take_batches(2, 2), ValueError);
  CHECK_THROWS_AS(sampler->take_batches(0, 0), ValueError);
}
