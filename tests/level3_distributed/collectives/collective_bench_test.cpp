// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective_bench.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"

using namespace d5;

namespace {

class AtOnce final : public Request {
 public:
  void wait() override {}
  bool done() override { return true; }
};

constexpr std::int64_t kEverywhere = 1000;

struct LazyOptions {
  bool lazy = false;
  std::int64_t throws_at = -1;
  void declare(OptionList& options) {
    options.add("lazy", lazy, "does nothing");
    options.add("throws_at", throws_at, "rank");
  }
};

/// Fast and wrong, if enabled; other tests try all registered algorithms.
class LazyAllReduce final : public AllReduce {
 public:
  using Options = LazyOptions;
  explicit LazyAllReduce(const Options& options)
      : lazy_(options.lazy), throws_at_(options.throws_at) {}
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    if (throws_at_ == ranks.rank() || throws_at_ == kEverywhere) {
      throw ShapeError("lazy: thrown by a test");
    }
    if (!lazy_) return ranks.start_all_reduce(data, reduction);
    data.data<float>()[0] += 1;
    return std::make_unique<AtOnce>();
  }

 private:
  bool lazy_;
  std::int64_t throws_at_;
};

void know_lazy() {
  if (all_reduces().find("lazy")) return;
  all_reduces().add("lazy", AllReduceEntry::of<LazyAllReduce>("wrong if asked"));
}

CollectiveBenchOptions quick(std::vector<EntryChoice> algorithms, std::vector<std::int64_t> sizes) {
  return {.algorithms = std::move(algorithms),
          .sizes = std::move(sizes),
          .measuring = {.samples = 3, .warmup = 1}};
}

/// The record of a metric, subject and size.
const Measurement& record(const std::vector<Measurement>& results, const std::string& metric,
                          const std::string& subject, const std::string& size) {
  const auto found = std::ranges::find_if(results, [&](const Measurement& one) {
    return one.metric == metric && one.subject == subject && one.conditions.at("size") == size;
  });
  REQUIRE(found != results.end());
  return *found;
}

}  // namespace

TEST_CASE("every kind is timed by size, with the bandwidths of nccl-tests, on rank 0") {
  const int n = world()->size();
  for (const CollectiveKind& kind : collective_kinds()) {
    INFO(kind.word);
    const auto results = bench_collective(kind.call, quick({{"mpi"}}, {4800, 480'000}), *world());
    if (world()->rank() != 0) {
      CHECK(results.empty());
      continue;
    }
    CHECK(results.size() == 2 * 3);
    const std::string subject = kind.word + " mpi";
    for (const auto& [size, bytes] : {std::pair{"4800B", 4800.0}, {"480000B", 480'000.0}}) {
      const auto& time = record(results, "time", subject, size);
      const auto& algorithm = record(results, "algorithm_bandwidth", subject, size);
      const auto& bus = record(results, "bus_bandwidth", subject, size);
      CHECK(time.conditions.at("answers") == "right");
      CHECK(time.conditions.at("ranks") == std::to_string(n));
      REQUIRE(time.samples.size() == 3);
      const double share = double(n - 1) / n;
      const double factor = kind.call == CallKind::all_reduce  ? 2 * share
                            : kind.call == CallKind::broadcast ? 1
                                                               : share;
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(time.samples[i] > 0);
        CHECK(algorithm.samples[i] == Approx(bytes / time.samples[i]));  // three roundings
        CHECK(bus.samples[i] == Approx(factor * bytes / time.samples[i]));
      }
      CHECK_THAT(time.command, Catch::Contains("d5 " + kind.word + " bench mpi --sizes " + size));
    }
  }
}

TEST_CASE("an algorithm that is wrong is failed and has no ratio, though it is fast") {
  know_lazy();
  const auto results =
      bench_collective(CallKind::all_reduce,
                       quick({{"lazy", {{"lazy", true}}}, {"mpi"}, {"ring"}}, {4096}), *world());
  if (world()->rank() != 0) return;
  CHECK(record(results, "time", "all-reduce lazy:lazy=true", "4KiB").status == Status::failed);
  CHECK(record(results, "bus_bandwidth", "all-reduce lazy:lazy=true", "4KiB").status ==
        Status::failed);
  CHECK(record(results, "time_ratio", "all-reduce ring", "4KiB").conditions.at("base") ==
        "all-reduce mpi");
  CHECK(std::ranges::none_of(results, [](const Measurement& one) {
    return one.metric == "time_ratio" && one.subject == "all-reduce lazy:lazy=true";
  }));
}

TEST_CASE("what every rank refuses alike is failed, and the others are timed") {
  know_lazy();
  const auto results = bench_collective(
      CallKind::all_reduce, quick({{"lazy", {{"throws_at", kEverywhere}}}, {"ring"}}, {4096, 8192}),
      *world());
  if (world()->rank() != 0) return;
  CHECK(record(results, "time", "all-reduce lazy:throws_at=1000", "4KiB").reason ==
        "lazy: thrown by a test");
  CHECK(record(results, "time", "all-reduce ring", "8KiB").samples.size() == 3);
}

TEST_CASE("a rank that fails alone is named on the others, soon") {
  const int last = world()->size() - 1;
  if (last == 0) return;
  know_lazy();
  for (const int who : {0, last}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto bench = [&] {
      (void)bench_collective(CallKind::all_reduce,
                             quick({{"lazy", {{"throws_at", who}}}, {"ring"}}, {4096}), *world());
    };
    if (world()->rank() == who) {
      CHECK_THROWS_AS(bench(), ShapeError);
    } else {
      std::string error;
      try {
        bench();
      } catch (const CommunicationError& thrown) {
        error = thrown.what();
      }
      CHECK_THAT(error, Catch::Contains("rank " + std::to_string(who) + " failed"));
    }
    // They wait for half a second before they listen; the rest is for a busy machine.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    world()->barrier();
  }
}

TEST_CASE("bandwidth over size is a picture") {
  const auto results =
      bench_collective(CallKind::all_gather, quick({{"mpi"}, {"bruck"}}, {4800, 48'000}), *world());
  if (world()->rank() != 0 || world()->size() == 1) return;  // a single rank has no bus traffic
  const Report report{.sources = {{"", Results{{}, results}}}};
  CHECK_NOTHROW(plot_named(plots_of(report), "bus_bandwidth-over-size"));
}

TEST_CASE("records print as a line a size, or as tables of sizes by algorithms") {
  if (world()->rank() != 0) return;
  const auto timed = [](const std::string& algorithm, std::int64_t bytes, double seconds) {
    Measurement time;
    time.subject = "all-reduce " + algorithm;
    time.metric = "time";
    time.unit = "s";
    time.quantity = Quantity::time;
    time.samples = {seconds};
    time.conditions["ranks"] = identity(4);
    time.conditions["size"] = identity(bytes, "byte");
    return time;
  };
  std::vector<Measurement> records{timed("ring", 1024, 4e-6), timed("ring", 4, 1e-6)};
  CHECK_THAT(collective_text(records, Format::table),
             Catch::Contains("all-reduce ring of float32 on 4 ranks"));
  const std::string lines = collective_text(records, Format::csv);
  CHECK_THAT(lines, Catch::Contains("4B,1,1.00") && Catch::Contains("1KiB,256,4.00"));
  records.push_back(timed("mpi", 1024, 2e-6));
  records.push_back(timed("mpi", 4, 3e-6));
  records.back().status = Status::failed;
  records.back().reason = "1 wrong element";
  records.back().conditions["answers"] = finding("wrong");
  const std::string both = collective_text(records, Format::table);
  const auto line_of = [&](const std::string& size) {
    const std::size_t begin = both.find(size + "  ");
    return both.substr(begin, both.find('\n', begin) - begin);
  };
  CHECK_THAT(line_of("4B"), Catch::Matches("4B +1.00 µs +failed +ring *"));
  CHECK_THAT(line_of("1KiB"), Catch::Matches("1KiB +4.00 µs +2.00 µs +mpi *"));
  CHECK_THAT(both, Catch::Contains("failed: 1 wrong element"));
  CHECK(collective_text({}, Format::table).empty());
}

TEST_CASE("sizes that are no whole elements, and files that are no sizes, are refused") {
  CHECK_THROWS_AS(bench_collective(CallKind::broadcast, quick({{"mpi"}}, {6}), *world()),
                  ValueError);
  CHECK_THROWS_AS(bench_collective(CallKind::broadcast, quick({{"mpi"}}, {0}), *world()),
                  ValueError);
  CHECK_THROWS_AS(bench_collective(CallKind::broadcast, quick({{"mp"}}, {4}), *world()), NotFound);
  CHECK_THROWS_AS(deepbench_all_reduce_sizes("/no/such/file"), IoError);
  CHECK(default_collective_sizes().front() == 4);
  CHECK(default_collective_sizes().back() == 64 << 20);
}

TEST_CASE("parts that the size does not divide into are rounded up to whole ones") {
  const int n = world()->size();
  const auto results =
      bench_collective(CallKind::reduce_scatter, quick({{"mpi"}}, {4, 4 * n}), *world());
  if (world()->rank() != 0) return;
  CHECK(results.size() == 3);  // both are one element a rank
  CHECK(results.front().conditions.at("size") == std::to_string(4 * n) + "B");
}
