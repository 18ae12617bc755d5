// SPDX-License-Identifier: Apache-2.0
// The laws of each sampler, compared with closed forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/index_sampler.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/validation/training_validation.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

using Batches = std::vector<std::vector<std::int64_t>>;

/// Samples with a class each.
std::shared_ptr<const Dataset> labelled(const std::vector<std::int64_t>& labels) {
  return std::make_shared<TensorDataset>(
      "labelled", std::vector<std::pair<std::string, Tensor>>{{"label", Tensor::vector(labels)}});
}

std::shared_ptr<const Dataset> samples(std::int64_t count) {
  return labelled(std::vector<std::int64_t>(std::size_t(count), 0));
}

Batches epoch_of(Sampler& sampler, std::int64_t epoch) {
  Batches batches;
  sampler.reset(epoch);
  while (const Batch* batch = sampler.next()) {
    batches.emplace_back(batch->samples.begin(), batch->samples.end());
  }
  return batches;
}

std::vector<std::int64_t> draws_of(Sampler& sampler, std::int64_t epoch) {
  std::vector<std::int64_t> draws;
  for (const auto& batch : epoch_of(sampler, epoch)) {
    draws.insert(draws.end(), batch.begin(), batch.end());
  }
  return draws;
}

/// Within five standard deviations of what a binomial distribution promises.
void check_share(std::int64_t hits, std::int64_t of, double chance) {
  CAPTURE(hits, of, chance);
  CHECK(std::abs(double(hits) - double(of) * chance) <=
        5 * std::sqrt(double(of) * chance * (1 - chance)));
}

const Measurement& coverage(const std::vector<Measurement>& results) {
  return *std::ranges::find(results, "sampler_coverage", &Measurement::metric);
}

}  // namespace

TEST_CASE("buffered: no sample comes earlier than the buffer allows") {
  for (const std::int64_t buffer : {1, 2, 7, 50, 1000}) {
    const auto sampler =
        samplers().at("buffered").make(samples(50), {{"buffer_size", buffer}, {"seed", 4}});
    for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
      const auto draws = draws_of(*sampler, epoch);
      for (std::size_t place = 0; place < draws.size(); ++place) {
        CHECK(std::int64_t(place) >= draws[place] - buffer + 1);
      }
    }
  }
  const auto sampler = samplers().at("buffered").make(samples(9), {{"buffer_size", 1}});
  CHECK(draws_of(*sampler, 3) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("buffered: a sample waits for a geometric time") {
  // Sample i enters the buffer of N before draw i - N + 1, and each draw takes it by 1/N.
  constexpr std::int64_t kBuffer = 4, kSample = 10, kEpochs = 4000;
  const auto sampler =
      samplers()
          .at("buffered")
          .make(samples(40), {{"buffer_size", kBuffer}, {"batch_size", 40}, {"seed", 1}});
  std::map<std::int64_t, std::int64_t> waits, first;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto draws = draws_of(*sampler, epoch);
    ++waits[std::ranges::find(draws, kSample) - draws.begin() - (kSample - kBuffer + 1)];
    ++first[draws[0]];
  }
  for (std::int64_t wait = 0; wait < 12; ++wait) {
    check_share(waits[wait], kEpochs, 0.25 * std::pow(0.75, double(wait)));
  }
  for (std::int64_t sample = 0; sample < kBuffer; ++sample) {
    check_share(first[sample], kEpochs, 0.25);
  }
}

TEST_CASE("weighted: samples come by their weights, with replacement, and zero never") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "weights.txt";
  write_file(file, "1 0\n2.5\n  1.5e0 5\n0\n");
  const auto sampler =
      samplers()
          .at("weighted")
          .make(samples(6), {{"weights", file}, {"draws", 20000}, {"batch_size", 64}, {"seed", 5}});
  CHECK(sampler->batches() == 313);
  std::map<std::int64_t, std::int64_t> drawn;
  for (const std::int64_t sample : draws_of(*sampler, 0)) ++drawn[sample];
  CHECK(sampler->law().chances == std::vector<double>{0.1, 0, 0.25, 0.15, 0.5, 0});
  for (std::int64_t i = 0; i < 6; ++i) {
    check_share(drawn[i], 20000, sampler->law().chances[std::size_t(i)]);
  }
}

TEST_CASE("weighted: classes become equally likely") {
  // 90 of class 7, 9 of class -1, 1 of class 0
  std::vector<std::int64_t> labels(90, 7);
  labels.insert(labels.end(), 9, -1);
  labels.push_back(0);
  const auto sampler =
      samplers()
          .at("weighted")
          .make(labelled(labels), {{"balance", "label"}, {"draws", 9000}, {"seed", 2}});
  std::map<std::int64_t, std::int64_t> drawn;
  for (const std::int64_t sample : draws_of(*sampler, 1)) ++drawn[labels[std::size_t(sample)]];
  for (const std::int64_t label : {7, -1, 0}) check_share(drawn[label], 9000, 1.0 / 3);
}

TEST_CASE("weighted: a sample that is drawn again is another draw of it") {
  struct Epochs final : Dataset {  // its only field is the epoch of the draw
    std::string name() const override { return "epochs"; }
    std::int64_t size() const override { return 2; }
    const std::vector<Field>& fields() const override { return all; }
    void read(std::span<const std::int64_t> indices, const Draw& draw,
              std::span<Tensor> batch) const override {
      for (std::size_t i = 0; i < indices.size(); ++i) {
        batch[0].span<std::int64_t>()[i] = draw.epoch;
      }
    }
    std::vector<Field> all{{"epoch", {DType::int64, {}}}};
  };
  const auto sampler = samplers()
                           .at("weighted")
                           .make(std::make_shared<Epochs>(), {{"draws", 10}, {"batch_size", 10}});
  sampler->reset(3);
  const Batch* batch = sampler->next();
  std::map<std::int64_t, std::int64_t> times;
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(batch->values.at("epoch").tensor().span<std::int64_t>()[i] ==
          3 * 10 + times[batch->samples[i]]++);
  }
  CHECK(times[0] + times[1] == 10);
}

TEST_CASE("weighted: malformed weights are refused, with their place") {
  const testing::TemporaryFolder folder;
  const auto make = [&](const std::string& text) {
    write_file(folder / "weights.txt", text);
    return samplers().at("weighted").make(samples(3), {{"weights", folder / "weights.txt"}});
  };
  CHECK_NOTHROW(make("0 0 1"));
  CHECK_THROWS_WITH(make("1\n-1\n1"), Catch::Contains("weights.txt:2") && Catch::Contains("-1"));
  for (const char* text :
       {"0 0 0", "1 2", "1 2 3 4", "", "1 nan 2", "1 inf 2", "1 2 3x", "1,2,3"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(make(text), FormatError);
  }
  CHECK_THROWS_AS(make("1e308 1e308 1e308"), ValueError);
  CHECK_THROWS_AS(samplers().at("weighted").make(samples(3), {{"weights", "/no/such/file"}}),
                  IoError);
  CHECK_THROWS_AS(samplers().at("weighted").make(samples(3), {{"balance", "class"}}), NotFound);
  CHECK_THROWS_AS(samplers()
                      .at("weighted")
                      .make(samples(3), {{"balance", "label"}, {"weights", "weights.txt"}}),
                  ValueError);
}

TEST_CASE("choice: as many as asked, none twice, all equally likely") {
  const auto sampler =
      samplers().at("choice").make(samples(20), {{"draws", 5}, {"batch_size", 2}, {"seed", 1}});
  CHECK(sampler->batches() == 3);
  std::map<std::int64_t, std::int64_t> drawn;
  for (std::int64_t epoch = 0; epoch < 2000; ++epoch) {
    auto draws = draws_of(*sampler, epoch);
    REQUIRE(draws.size() == 5);
    for (const std::int64_t sample : draws) ++drawn[sample];
    std::ranges::sort(draws);
    REQUIRE(std::ranges::adjacent_find(draws) == draws.end());
  }
  for (std::int64_t sample = 0; sample < 20; ++sample) check_share(drawn[sample], 2000, 0.25);
  CHECK_THROWS_AS(samplers().at("choice").make(samples(20), {{"draws", 21}}), ValueError);
}

TEST_CASE("stratified: every batch has every class's share, rounded up or down") {
  RandomStream random(11);
  for (int run = 0; run < 200; ++run) {
    std::vector<std::int64_t> labels, members;
    const auto classes = 1 + random.below(6);
    for (std::uint64_t label = 0; label < classes; ++label) {
      members.push_back(std::int64_t(1 + random.below(40)));
      labels.insert(labels.end(), std::size_t(members.back()), std::int64_t(label));
    }
    random.shuffle(labels);
    const auto all = std::int64_t(labels.size());
    const auto batch_size = std::int64_t(1 + random.below(20));
    CAPTURE(run, all, batch_size, members);
    const auto sampler = samplers()
                             .at("stratified")
                             .make(labelled(labels), {{"batch_size", batch_size}, {"seed", run}});
    for (const auto& batch : epoch_of(*sampler, run)) {
      std::vector<std::int64_t> count(classes, 0);
      for (const std::int64_t sample : batch) ++count[std::size_t(labels[std::size_t(sample)])];
      for (std::size_t c = 0; c < classes; ++c) {
        // |count - share| < 1, in whole numbers
        CHECK(std::abs(count[c] * all - std::int64_t(batch.size()) * members[c]) < all);
      }
    }
    CHECK(coverage(test_sampler(samplers().at("stratified"), labelled(labels),
                                {{"batch_size", batch_size}}, 1))
              .status == Status::passed);
  }
}

TEST_CASE("bucket: a batch is of one bucket, and batches of all buckets are mixed") {
  struct Lengths final : Dataset {
    std::string name() const override { return "lengths"; }
    std::int64_t size() const override { return 60; }
    const std::vector<Field>& fields() const override { return all; }
    Shape sample_shape(std::size_t, std::int64_t index) const override { return {index % 30}; }
    void read(std::span<const std::int64_t> indices, const Draw&,
              std::span<Tensor> batch) const override {
      batch[0] = Tensor::zeros(DType::int8, {1, indices[0] % 30});
    }
    std::vector<Field> all{{"row", {DType::int8, {kUnknownDim}}}};
  };
  const auto data = std::make_shared<Lengths>();
  const auto sampler =
      samplers().at("bucket").make(data, {{"boundaries", "10,25"}, {"batch_size", 8}, {"seed", 1}});
  // 20 of a length below 10, 30 below 25, 10 more.
  CHECK(sampler->batches() == 3 + 4 + 2);
  const auto bucket = [](std::int64_t sample) {
    return (sample % 30 >= 10 ? 1 : 0) + (sample % 30 >= 25 ? 1 : 0);
  };
  std::vector<int> order;
  for (const auto& batch : epoch_of(*sampler, 0)) {
    for (const std::int64_t sample : batch) CHECK(bucket(sample) == bucket(batch[0]));
    order.push_back(bucket(batch[0]));
  }
  CHECK_FALSE(std::ranges::is_sorted(order));
  const auto drop = samplers().at("bucket").make(
      data, {{"boundaries", "10,25"}, {"batch_size", 8}, {"tail", "drop"}});
  CHECK(drop->batches() == 2 + 3 + 1);
  CHECK(coverage(test_sampler(samplers().at("bucket"), data,
                              {{"boundaries", "10,25"}, {"batch_size", 8}, {"tail", "drop"}}))
            .status == Status::passed);

  CHECK_THROWS_AS(samplers().at("bucket").make(data, {{"boundaries", "10,10"}}), ValueError);
  CHECK_THROWS_AS(samplers().at("bucket").make(data, {{"field", "column"}}), NotFound);
  CHECK_THROWS_AS(samplers().at("bucket").make(data, {{"dimension", 1}}), ValueError);
  CHECK_THROWS_AS(samplers().at("bucket").make(data, {{"batch_size", 61}, {"tail", "drop"}}),
                  ValueError);
}

TEST_CASE("replicate: each sample as often in its batch as asked, each copy another draw") {
  struct Drawn final : Dataset {  // its only field is random by the draw
    std::string name() const override { return "drawn"; }
    std::int64_t size() const override { return 11; }
    const std::vector<Field>& fields() const override { return all; }
    void read(std::span<const std::int64_t> indices, const Draw& draw,
              std::span<Tensor> batch) const override {
      for (std::size_t i = 0; i < indices.size(); ++i) {
        batch[0].span<float>()[i] = draw.stream("value", indices[i]).uniform();
      }
    }
    std::vector<Field> all{{"value", {DType::float32, {}}}};
  };
  const auto sampler =
      samplers()
          .at("replicate")
          .make(std::make_shared<Drawn>(), {{"copies", 3}, {"batch_size", 12}, {"seed", 6}});
  CHECK(sampler->batches() == 3);
  sampler->reset(2);
  while (const Batch* batch = sampler->next()) {
    std::map<std::int64_t, std::int64_t> copies;
    for (std::size_t i = 0; i < batch->samples.size(); ++i) {
      const std::int64_t sample = batch->samples[i];
      const Draw draw{.seed = 6, .epoch = 2 * 3 + copies[sample]++};
      CHECK(batch->values.at("value").tensor().span<float>()[i] ==
            draw.stream("value", sample).uniform());
    }
    for (const auto& [sample, count] : copies) CHECK(count == 3);
  }
  CHECK_THROWS_AS(samplers().at("replicate").make(samples(5), {{"copies", 3}, {"batch_size", 8}}),
                  ValueError);
}

namespace {

/// Promises something else than the order 0, 1, 2, ... that it gives.
class Liar final : public IndexSampler {
 public:
  using Promise = std::function<SamplerLaw(SamplerLaw)>;
  Liar(std::shared_ptr<const Dataset> dataset, Promise lie)
      : IndexSampler(std::move(dataset), SamplerOptions{.batch_size = 4}), lie_(std::move(lie)) {}

 private:
  [[nodiscard]] SamplerLaw promise() const override { return lie_(IndexSampler::promise()); }
  void arrange(std::int64_t, EpochOrder&) override {}
  Promise lie_;
};

Status judged(const Liar::Promise& lie) {
  const SamplerEntry entry("a liar", [lie](std::shared_ptr<const Dataset> data) {
    return std::make_shared<Liar>(std::move(data), lie);
  });
  return coverage(test_sampler(entry, samples(200), {})).status;
}

}  // namespace

TEST_CASE("a sampler that breaks its law fails") {
  CHECK(judged([](SamplerLaw law) { return law; }) == Status::passed);
  const auto broken = [](auto change) {
    return judged([change](SamplerLaw law) {
      change(law);
      return law;
    });
  };
  CHECK(broken([](SamplerLaw& law) { law.draws = 199; }) == Status::failed);
  CHECK(broken([](SamplerLaw& law) { law = {.draws = 400, .least = 2, .most = 2}; }) ==
        Status::failed);
  CHECK(broken([](SamplerLaw& law) { law.least = law.most = 0; }) == Status::failed);
  CHECK(broken([](SamplerLaw& law) {
          law.chances.assign(200, 1.0 / 199);  // but the last, which is drawn
          law.chances.back() = 0;
        }) == Status::failed);
  CHECK(broken([](SamplerLaw& law) {
          law.chances.assign(200, 0.1 / 190);
          std::fill_n(law.chances.begin(), 10, 0.09);
        }) == Status::failed);
}
