// SPDX-License-Identifier: Apache-2.0
// A batch is judged by its samples, read alone: what is handed to the wrong row, forgotten or drawn
// twice is found, and is no time that counts.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>

#include "d5/level2_training/data/dataset_bench.hpp"
#include "level2_training/data/batches/batch_judge.hpp"
#include "tests/level2_training/drawn_samples.hpp"

using namespace d5;
using Catch::Matchers::Contains;
using detail::judge_batch;
using test::DrawnSamples;
using Is = Verdict::Is;

namespace {

/// Numbers that are their index, but when the reader is asked for several and `wrong` is reached:
/// then one stands where another belongs.
class MisplacedSamples final : public Dataset {
 public:
  explicit MisplacedSamples(int right_reads = 0) : right_reads_(right_reads) {}
  std::string name() const override { return "misplaced"; }
  std::int64_t size() const override { return 64; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch[0].span<std::int64_t>()[i] = indices[i];
    }
    if (indices.size() < 2 || ++reads_ <= right_reads_) return;
    std::swap(batch[0].span<std::int64_t>()[0], batch[0].span<std::int64_t>()[1]);
  }

 private:
  int right_reads_;
  mutable std::atomic<int> reads_ = 0;
  std::vector<Field> fields_{{"number", {DType::int64, {}}}};
};

struct RightReads {
  std::int64_t right_reads = 0;
  void declare(OptionList& options) {
    options.add("right_reads", right_reads, "number of right reads before wrong ones");
  }
};

std::vector<Measurement> bench_misplaced(std::int64_t right_reads, bool unjudged = false) {
  static const bool once = [] {
    datasets().add(
        "misplaced",
        DatasetEntry::with<RightReads>("test data", [](const Interrupt&, const RightReads& how) {
          const auto data = std::make_shared<MisplacedSamples>(int(how.right_reads));
          return DatasetPair{data, data};
        }));
    return true;
  }();
  (void)once;
  return bench_dataset(
      {"misplaced", {{"right_reads", right_reads}}},
      {.batch_size = 8,
       .samplers = {"ordered"},
       .measuring = {.samples = 5, .seconds_per_sample = 1e-9, .unjudged = unjudged}});
}

}  // namespace

TEST_CASE("what every sampler gives is right, of fixed and of open shapes, read ahead or not") {
  for (const bool ragged : {false, true}) {
    const auto data = std::make_shared<DrawnSamples>(40, ragged);
    for (const auto& [name, entry] : samplers().entries()) {
      const auto sampler = entry.make(data, {{"batch_size", 6}, {"seed", 3}});
      for (const int threads : {0, 2}) {
        CAPTURE(name, threads, ragged);
        sampler->read_ahead(threads);
        sampler->reset(1);
        const Verdict verdict = judge_batch(*sampler->next(), *data, 3);
        CHECK(verdict.reason == "");
        CHECK(verdict.is == Is::right);
      }
    }
  }
}

TEST_CASE("draws of another seed, and rows that stand elsewhere, are wrong and named") {
  const auto data = std::make_shared<DrawnSamples>(40, true);
  const auto sampler = samplers().at("ordered").make(data, {{"batch_size", 6}, {"seed", 3}});
  const Batch& batch = *sampler->next();
  CHECK_THAT(judge_batch(batch, *data, 4).reason, Contains("field 'value' of sample 0"));
  const std::vector<std::int64_t> others{0, 1, 2, 4, 3, 5};
  Batch moved = batch;
  moved.samples = others;
  const Verdict verdict = judge_batch(moved, *data, 3);
  CHECK(verdict.is == Is::wrong);
  CHECK_THAT(verdict.reason, Contains("sample 4"));
}

TEST_CASE("a sampler that does not say which samples it gives is not judged") {
  const auto data = std::make_shared<DrawnSamples>(40);
  const auto sampler = samplers().at("ordered").make(data, {{"batch_size", 6}});
  Batch silent = *sampler->next();
  silent.samples = {};
  CHECK(judge_batch(silent, *data, 0).is == Is::unknown);
}

TEST_CASE("batches that are wrong, or become it under the clock, have no time that counts") {
  for (const std::int64_t right_reads : {0, 5}) {
    CAPTURE(right_reads);
    for (const Measurement& record : bench_misplaced(right_reads)) {
      CHECK(record.status == Status::failed);
      CHECK(record.conditions.at("answers") == "wrong");
      CHECK_THAT(record.reason, Contains("field 'number'"));
    }
  }
  for (const Measurement& record : bench_misplaced(1'000'000'000)) {
    CHECK(record.conditions.at("answers") == "right");
  }
  for (const Measurement& record : bench_misplaced(0, true)) {
    CHECK(record.status != Status::failed);
    CHECK(record.conditions.at("judge") == "none: unjudged");
  }
}
