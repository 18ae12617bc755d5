// SPDX-License-Identifier: Apache-2.0
// Samplers, tails and ranks: together ranks train each sample that one rank trains, and an epoch
// says how many it leaves out.
#include <catch2/catch.hpp>
#include <map>

#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level3_distributed/samples/distributed_sampler.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"

using namespace d5;

namespace {

std::shared_ptr<TensorDataset> counted_from_0(std::int64_t count) {
  std::vector<std::int64_t> x;
  for (std::int64_t i = 0; i < count; ++i) x.push_back(i % 2);
  return std::make_shared<TensorDataset>(
      "numbers", std::vector<std::pair<std::string, Tensor>>{{"label", Tensor::vector(x)}});
}

struct Epoch {
  std::map<std::int64_t, int> drawn;  ///< how often each sample was
  std::int64_t steps = 0, left_out = 0;
};

void add(Sampler& sampler, Epoch& epoch) {
  std::int64_t steps = 0;
  while (const Batch* batch = sampler.next()) {
    CHECK(std::int64_t(batch->samples.size()) == batch->size);
    if (batch->size == 0) {
      CHECK(batch->global_size > 0);
      CHECK(batch->values.empty());
    } else {
      CHECK(batch->values.at("label").tensor().shape()[0] == batch->size);
    }
    for (const std::int64_t sample : batch->samples) ++epoch.drawn[sample];
    ++steps;
  }
  CHECK(steps == sampler.batches());
  epoch.steps = steps;
  epoch.left_out = sampler.left_out();
}

}  // namespace

TEST_CASE("ranks together train what one rank trains, with whatever sampler and tail") {
  const std::map<std::string, Settings> samplers_of{
      {"ordered", {}},
      {"shuffle", {{"seed", 3}}},
      {"choice", {{"seed", 3}, {"draws", 11}}},
      {"stratified", {{"seed", 3}}},
      {"bucket", {{"seed", 3}}},
      {"buffered", {{"seed", 3}}},
      {"weighted", {{"seed", 3}, {"balance", "label"}}}};
  const std::int64_t kBatch = 4;
  for (const auto& [name, settings] : samplers_of) {
    for (const char* tail : {"keep", "drop"}) {
      for (const std::int64_t count : {12, 13, 14, 15}) {
        for (const int ahead : {0, 2}) {
          CAPTURE(name, tail, count, ahead);
          Settings all = settings;
          all.set("batch_size", kBatch);
          all.set("tail", tail);
          const auto data = counted_from_0(count);
          Epoch alone;
          add(*samplers().at(name).make(data, all), alone);
          const std::int64_t draws = name == "choice" ? 11 : count;
          CHECK(alone.left_out == (std::string(tail) == "drop" ? draws % kBatch : 0));
          for (const int ranks : {2, 3, 4}) {
            Epoch together;
            for (int rank = 0; rank < ranks; ++rank) {
              const auto sampler = samplers().at(name).make(data, all);
              sampler->read_ahead(ahead);
              sampler->take_part(rank, ranks);
              add(*sampler, together);
            }
            CHECK(together.drawn == alone.drawn);
            CHECK(together.steps == alone.steps);
            CHECK(together.left_out == alone.left_out);
          }
        }
      }
    }
  }
}

TEST_CASE("cuts whose ranks have samples of their own say what is in no part") {
  for (const char* cut : {"shuffle", "shards"}) {
    for (const char* tail : {"keep", "drop"}) {
      CAPTURE(cut, tail);
      const int ranks = 3;
      std::int64_t drawn = 0, left_out = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto sampler =
            sample_cuts().at(cut).make()->sampler(counted_from_0(17), samplers().at("shuffle"),
                                                  {{"batch_size", 2}, {"tail", tail}}, rank, ranks);
        while (const Batch* batch = sampler->next()) drawn += batch->size;
        left_out = sampler->left_out();
      }
      CHECK(drawn + left_out == 17);  // 5 of each rank, and 2; of 5 the last is a tail
      CHECK(left_out == (std::string(tail) == "drop" ? 5 : 2));
    }
  }
}
