// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/batch_step.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "level2_training/data/image/mixing_step.hpp"

using namespace d5;

namespace {

/// Image i is 2 x 12 x 10 times i, its label is i.
std::shared_ptr<const TensorDataset> numbered(std::int64_t count) {
  constexpr std::int64_t kEach = 240;
  Tensor images = Tensor::empty(DType::float32, {count, 2, 12, 10});
  Tensor labels = Tensor::empty(DType::int64, {count}), ids = Tensor::empty(DType::int64, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    std::fill_n(images.data<float>() + i * kEach, kEach, float(i));
    labels.data<std::int64_t>()[i] = i;
    ids.data<std::int64_t>()[i] = 10 * i;
  }
  return std::make_shared<TensorDataset>("numbered",
                                         std::vector<std::pair<std::string, Tensor>>{
                                             {"image", images}, {"label", labels}, {"id", ids}});
}

std::shared_ptr<Sampler> mixed(const std::string& step, std::int64_t count,
                               const char* tail = "keep", double alpha = 1) {
  auto sampler =
      samplers().at("ordered").make(numbered(count), {{"batch_size", 4}, {"tail", tail}});
  return with_batch_steps(std::move(sampler), {{step, {{"classes", count}, {"alpha", alpha}}}}, 5);
}

/// The content of a batch, as numbers.
std::vector<float> content(const Batch& batch) {
  std::vector<float> all;
  for (const char* field : {"image", "label"}) {
    const auto values = batch.values.at(field).tensor().span<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace

TEST_CASE("mixup gives the mean of two images and of their labels, by one share") {
  const auto sampler = mixed("mixup", 8);
  std::int64_t first = 0;
  while (const Batch* batch = sampler->next()) {
    const Tensor& images = batch->values.at("image").tensor();
    const Tensor& labels = batch->values.at("label").tensor();
    REQUIRE(labels.shape() == Shape{4, 8});
    CHECK(batch->values.at("id").tensor().span<std::int64_t>()[1] == 10 * (first + 1));
    for (std::int64_t i = 0; i < 4; ++i) {
      const float* shares = labels.data<float>() + i * 8;
      CHECK(std::accumulate(shares, shares + 8, 0.0F) == Approx(1));
      CHECK(std::count_if(shares, shares + 8, [](float share) { return share > 0; }) == 2);
      CHECK(shares[first + i] == labels.data<float>()[first]);  // one share for all
      float mean = 0;  // image i holds the number i, so that the mean of the labels is its value
      for (int k = 0; k < 8; ++k) mean += shares[k] * float(k);
      const float* image = images.data<float>() + i * 240;
      for (int k = 0; k < 240; ++k) CHECK(image[k] == Approx(mean).margin(1e-5));
    }
    first += 4;
  }
  CHECK(first == 8);
}

TEST_CASE("cutmix puts a rectangle of another image in, and labels follow its area") {
  const auto sampler = mixed("cutmix", 4);
  for (std::int64_t epoch = 0; epoch < 50; ++epoch) {
    sampler->reset(epoch);
    const Batch* batch = sampler->next();
    const float* image = batch->values.at("image").tensor().data<float>();
    const float* shares = batch->values.at("label").tensor().data<float>();
    for (int i = 0; i < 4; ++i, shares += 4, image += 240) {
      const auto own = std::count(image, image + 240, float(i));
      CHECK(shares[i] == Approx(double(own) / 240));
      CHECK(std::count(image, image + 120, float(i)) == own / 2);  // the same in both channels
      for (int other = 0; other < 4; ++other) {
        if (other == i) continue;
        CHECK(shares[other] == Approx(double(std::count(image, image + 240, float(other))) / 240));
      }
    }
  }
}

TEST_CASE("a mixed batch can be made again, also when it is reached by seeking") {
  for (const char* step : {"mixup", "cutmix"}) {
    const auto sampler = mixed(step, 12);
    sampler->reset(2);
    std::vector<std::vector<float>> batches;
    while (const Batch* batch = sampler->next()) batches.push_back(content(*batch));
    REQUIRE(batches.size() == 3);
    const auto again = mixed(step, 12);
    again->seek(2, 2);
    CHECK(content(*again->next()) == batches[2]);
    CHECK(again->next() == nullptr);
    again->seek(3, 2);
    CHECK(content(*again->next()) != batches[2]);
  }
}

TEST_CASE("a batch of one sample is mixed with itself") {
  const auto sampler = mixed("mixup", 5);
  sampler->seek(0, 1);
  const Batch* batch = sampler->next();
  REQUIRE(batch->size == 1);
  CHECK(batch->values.at("label").tensor().span<float>()[4] == Approx(1));
  CHECK(batch->values.at("image").tensor().span<float>()[0] == Approx(4));
}

TEST_CASE("shares have the mean and the variance of Beta's law") {
  for (const double alpha : {0.2, 1.0, 4.0}) {
    RandomStream random(9, 1);
    constexpr int kDraws = 40'000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double share = detail::draw_beta(alpha, random);
      REQUIRE((share >= 0 && share <= 1));
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    CHECK(std::abs(sum / kDraws - 0.5) < 5 * std::sqrt(variance / kDraws));
    CHECK(squares / kDraws == Approx(variance).epsilon(0.03));
  }
  RandomStream random(9, 2);
  CHECK(std::isfinite(detail::draw_beta(1e-5, random)));  // Gamma's numbers are 0 as doubles
}

TEST_CASE("fields and settings that cannot be mixed are refused") {
  const auto sampler = samplers().at("ordered").make(numbered(4), {{"batch_size", 2}});
  const auto with = [&](const Settings& settings) {
    return with_batch_steps(sampler, {{"mixup", settings}}, 0);
  };
  CHECK_THROWS_AS(with({}), ValueError);
  CHECK_THROWS_AS(with({{"classes", 4}, {"image", "picture"}}), NotFound);
  CHECK_THROWS_AS(with({{"classes", 4}, {"image", "label"}}), TypeError);
  CHECK_THROWS_AS(with({{"classes", 4}, {"alpha", 0}}), ValueError);
  CHECK_THROWS_AS(with_batch_steps(sampler, {{"mixdown"}}, 0), NotFound);
  CHECK(with_batch_steps(sampler, {}, 0) == sampler);
  const auto few = with({{"classes", 3}});
  CHECK(few->next() != nullptr);
  CHECK_THROWS_AS(few->next(), ValueError);  // labels 2 and 3
}
