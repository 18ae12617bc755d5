// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/sample_cut.hpp"
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kNumbers = 47;

std::shared_ptr<const Dataset> cut_numbers() {
  std::vector<float> values(kNumbers);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  return std::make_shared<TensorDataset>(
      "numbers", std::vector<std::pair<std::string, Tensor>>{{"x", Tensor::vector(values)}});
}

/// The samples of a share in an epoch, batch by batch.
std::vector<std::vector<float>> epoch_of(Sampler& sampler, std::int64_t epoch) {
  std::vector<std::vector<float>> batches;
  sampler.reset(epoch);
  while (const Batch* batch = sampler.next()) {
    const Tensor& x = batch->values.at("x").tensor();
    batches.emplace_back(x.data<float>(), x.data<float>() + x.elements());
  }
  return batches;
}

std::shared_ptr<Sampler> share_of(const std::string& cut, int share, int shares,
                                  const Settings& of_cut = {}) {
  return sample_cuts().at(cut).make(of_cut)->sampler(
      cut_numbers(), samplers().at("shuffle"), {{"batch_size", 4}, {"seed", 3}}, share, shares);
}

/// The number of reads of each sample by all shares.
std::map<float, int> reads(const std::string& cut, int shares, std::int64_t epoch) {
  std::map<float, int> times;
  for (int share = 0; share < shares; ++share) {
    for (const auto& batch : epoch_of(*share_of(cut, share, shares), epoch)) {
      for (const float sample : batch) ++times[sample];
    }
  }
  return times;
}

}  // namespace

TEST_CASE("an even cut gives every share the same batches, a complete one every sample") {
  for (const auto& [name, entry] : sample_cuts().entries()) {
    const auto cut = entry.make();
    for (const int shares : {1, 2, 3, 4, 5}) {
      CAPTURE(name, shares);
      const auto times = reads(name, shares, 1);
      const int most = name == "whole" ? shares : 1;
      CHECK(std::ranges::all_of(times, [&](const auto& one) { return one.second == most; }));
      if (cut->is_complete()) CHECK(times.size() == std::size_t(kNumbers));
      // At most one sample less than there are ranks is left out.
      CHECK(times.size() >= std::size_t(kNumbers - shares + 1));
      if (!cut->is_even()) continue;
      std::set<std::size_t> batches;
      for (int share = 0; share < shares; ++share) {
        batches.insert(epoch_of(*share_of(name, share, shares), 1).size());
      }
      CHECK(batches.size() == 1);
    }
  }
}

TEST_CASE("a share that there is not is refused, and so is one of nothing") {
  for (const char* cut : {"partition", "batches", "shuffle", "shards"}) {
    CHECK_THROWS_AS(share_of(cut, 2, 2), ValueError);
  }
  CHECK_THROWS_WITH(share_of("shards", 0, 48), Catch::Contains("47 samples"));
}

TEST_CASE("shards stay where they are, shuffled shares are dealt again every epoch") {
  const auto samples_of = [](Sampler& sampler, std::int64_t epoch) {
    std::set<float> samples;
    for (const auto& batch : epoch_of(sampler, epoch)) samples.insert(batch.begin(), batch.end());
    return samples;
  };
  const auto shard = share_of("shards", 1, 3), dealt = share_of("shuffle", 1, 3);
  const auto mine = samples_of(*shard, 0);
  CHECK(*mine.begin() == 15);  // the second part of 47 samples, in parts of 15
  CHECK(*mine.rbegin() == 29);
  CHECK(samples_of(*shard, 1) == mine);
  CHECK(epoch_of(*shard, 1) != epoch_of(*shard, 0));
  CHECK(samples_of(*dealt, 1) != samples_of(*dealt, 0));
  CHECK(epoch_of(*dealt, 1) == epoch_of(*share_of("shuffle", 1, 3), 1));
}

TEST_CASE("each rank has its own order of the whole set, or all the same") {
  CHECK(epoch_of(*share_of("whole", 0, 2), 0) != epoch_of(*share_of("whole", 1, 2), 0));
  const Settings same{{"order", "same"}};
  CHECK(epoch_of(*share_of("whole", 0, 2, same), 0) == epoch_of(*share_of("whole", 1, 2, same), 0));
}

TEST_CASE("a recipe chooses how its samples are cut, and an impossible cut is an error") {
  const std::string head = R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 50, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 12}
  optimizer: {name: sgd}
  training: {epochs: 1, seed: 1}
  distributed: )";
  const auto options = [&](const std::string& section) {
    return distributed_options(Recipe::parse(head + section, "tiny.yaml"));
  };
  CHECK(options("{samples: shards}").samples.name == "shards");
  CHECK(options("{samples: {name: whole, order: same}}").samples.settings.text("order", "") ==
        "same");
  CHECK_THROWS_WITH(options("{samples: batches}"), Catch::Contains("test_samples"));
  CHECK_THROWS_WITH(options("{test_samples: shards}"), Catch::Contains("batches or whole"));
  CHECK_THROWS_AS(options("{samples: shardz}"), NotFound);
  if (world()->size() == 1) return;
  const auto results = train(Recipe::parse(head + "{samples: shards, test_samples: whole}", "t"),
                             {.data = ""}, world());
  CHECK(results.front().conditions.at("samples") == "shards");
  CHECK(results.front().conditions.at("test_samples") == "whole");
}
