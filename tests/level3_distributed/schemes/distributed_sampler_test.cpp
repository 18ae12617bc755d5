// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/distributed_sampler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

/// Sample i is the pair (i, 100 + i) under the label i mod 10.
class Counting final : public Dataset {
 public:
  explicit Counting(std::int64_t size) : size_(size) {}
  std::string name() const override { return "counting"; }
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    for (std::size_t s = 0; s < indices.size(); ++s) {
      batch[0].data<float>()[2 * s] = static_cast<float>(indices[s]);
      batch[0].data<float>()[2 * s + 1] = static_cast<float>(100 + indices[s]);
      batch[1].data<std::int64_t>()[s] = indices[s] % 10;
    }
  }

 private:
  std::int64_t size_;
  std::vector<Field> fields_{{"pair", {DType::float32, {2}}}, {"label", {DType::int64, {}}}};
};

using Step = std::vector<int>;  // the numbers of the samples in one step

Step numbers(const Batch& batch) {
  const Tensor& pairs = batch.values.at("pair").tensor();
  const Tensor& labels = batch.values.at("label").tensor();
  Step result;
  for (std::int64_t s = 0; s < batch.size; ++s) {
    const float number = pairs.data<float>()[2 * s];
    CHECK(pairs.data<float>()[2 * s + 1] == 100 + number);
    CHECK(labels.data<std::int64_t>()[s] == static_cast<std::int64_t>(number) % 10);
    result.push_back(static_cast<int>(number));
  }
  return result;
}

std::vector<Step> epoch(Sampler& sampler, std::int64_t number) {
  std::vector<Step> steps;
  sampler.reset(number);
  while (const Batch* batch = sampler.next()) steps.push_back(numbers(*batch));
  return steps;
}

std::vector<Step> joined_epoch(const std::string& order, std::int64_t samples,
                               const Settings& settings, int ranks, std::int64_t number) {
  std::vector<Step> joined;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto sampler = distributed_sampler(std::make_shared<Counting>(samples),
                                             samplers().at(order), settings, rank, ranks);
    const auto steps = epoch(*sampler, number);
    CHECK(static_cast<std::int64_t>(steps.size()) == sampler->batches());
    joined.resize(std::max(joined.size(), steps.size()));
    CHECK(joined.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      joined[i].insert(joined[i].end(), steps[i].begin(), steps[i].end());
    }
  }
  return joined;
}

}  // namespace

TEST_CASE("n ranks with batch B see the samples that one rank with batch nB sees, in order") {
  for (const std::string order : {"ordered", "shuffle"}) {
    for (const char* tail : {"keep", "drop"}) {
      for (const int ranks : {1, 2, 3, 4}) {
        for (const std::int64_t epoch_number : {0, 1}) {
          // 46 = 3 * 12 + 10: the last global batch of 12 is short but no rank is without samples.
          const std::int64_t batch = 12 / ranks;
          INFO(order << ", " << ranks << " ranks, epoch " << epoch_number);
          const auto sequential = samplers().at(order).make(
              std::make_shared<Counting>(46), {{"batch_size", 12}, {"tail", tail}, {"seed", 5}});
          CHECK(joined_epoch(order, 46, {{"batch_size", batch}, {"tail", tail}, {"seed", 5}}, ranks,
                             epoch_number) == epoch(*sequential, epoch_number));
        }
      }
    }
  }
}

TEST_CASE("a short last batch is cut as evenly as can be, and every rank knows its whole size") {
  // 2 global batches of 8, then 6 samples for 4 ranks.
  std::int64_t samples = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const auto sampler = distributed_sampler(
        std::make_shared<Counting>(22), samplers().at("ordered"), {{"batch_size", 2}}, rank, 4);
    CHECK(sampler->batches() == 3);
    CHECK(sampler->next()->global_size == 8);
    CHECK(sampler->next()->global_size == 8);
    const Batch* last = sampler->next();
    REQUIRE(last);
    CHECK((last->size == 1 || last->size == 2));
    CHECK(last->global_size == 6);
    samples += last->size;
    CHECK(!sampler->next());
  }
  CHECK(samples == 6);
}

TEST_CASE("a last batch with fewer samples than ranks leaves some without any") {
  for (int rank = 0; rank < 4; ++rank) {
    const auto sampler = distributed_sampler(
        std::make_shared<Counting>(19), samplers().at("ordered"), {{"batch_size", 2}}, rank, 4);
    CHECK(sampler->batches() == 3);
    for (const std::int64_t number : {0, 1}) {
      sampler->seek(number, 2);
      const Batch* last = sampler->next();
      REQUIRE(last);
      CHECK(last->size == (rank < 3 ? 1 : 0));
      CHECK(last->global_size == 3);
    }
  }
}

TEST_CASE("a rank reads its own samples alone") {
  struct Watched final : Dataset {
    std::string name() const override { return "watched"; }
    std::int64_t size() const override { return 16; }
    const std::vector<Field>& fields() const override { return inner.fields(); }
    void read(std::span<const std::int64_t> indices, const Draw&,
              std::span<Tensor> batch) const override {
      reads += static_cast<std::int64_t>(indices.size());
      inner.read(indices, {}, batch);
    }
    Counting inner{16};
    mutable std::int64_t reads = 0;
  };
  const auto watched = std::make_shared<Watched>();
  const auto sampler =
      distributed_sampler(watched, samplers().at("ordered"), {{"batch_size", 2}}, 1, 4);
  epoch(*sampler, 0);
  CHECK(watched->reads == 4);
}

TEST_CASE("a sampler continues in the middle of an epoch") {
  const auto sampler = distributed_sampler(std::make_shared<Counting>(40), samplers().at("shuffle"),
                                           {{"batch_size", 5}, {"seed", 3}}, 1, 2);
  const auto whole = epoch(*sampler, 7);
  sampler->seek(7, 2);
  const Batch* batch = sampler->next();
  REQUIRE(batch);
  CHECK(batch->epoch == 7);
  CHECK(batch->index == 2);
  CHECK(numbers(*batch) == whole[2]);
}

TEST_CASE("a rank outside the world is refused") {
  CHECK_THROWS_AS(
      distributed_sampler(std::make_shared<Counting>(8), samplers().at("ordered"), {}, 2, 2),
      ValueError);
}
