// SPDX-License-Identifier: Apache-2.0
#include "d5/core/peak/machine_peak.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/environment.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
namespace fs = std::filesystem;

namespace {

/// The folder of what is kept, for as long as it lives.
class CacheFolder : public testing::TemporaryFolder {
 public:
  CacheFolder() {
    if (const char* before = std::getenv("D5_CACHE_DIR")) before_ = before;
    setenv("D5_CACHE_DIR", (path() / "new").c_str(), 1);
  }
  ~CacheFolder() { setenv("D5_CACHE_DIR", before_.c_str(), 1); }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  [[nodiscard]] fs::path only_file() const {
    return fs::directory_iterator(path() / "new")->path();
  }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("a peak is measured once, kept, and found again for as many threads") {
  const CacheFolder folder;
  const int all = threads();
  set_threads(1);
  CHECK(machine_peak().byte_rate == 0);
  CHECK(environment().peak_byte_rate == 0);
  const MachinePeak peak = measure_machine_peak();
  CHECK(peak.float32_flop_rate > 0);
  CHECK(peak.float64_flop_rate > 0);
  CHECK(peak.byte_rate > 0);
  CHECK(peak.flop_rate(DType::float64) == peak.float64_flop_rate);
  CHECK(peak.flop_rate(DType::float16) == peak.float32_flop_rate);
  CHECK(peak.flop_rate(DType::int8) == 0);
  CHECK(machine_peak().float64_flop_rate == peak.float64_flop_rate);
  CHECK(environment().peak_float32_flop_rate == peak.float32_flop_rate);
  set_threads(2);
  CHECK(machine_peak().byte_rate == 0);
  set_threads(1);
  const std::string text = read_file(folder.only_file());
  for (const std::string& damaged : {text.substr(0, text.size() / 2), std::string("[]")}) {
    write_file(folder.only_file(), damaged);
    CHECK(machine_peak().byte_rate == 0);
  }
  set_threads(all);
}

TEST_CASE("the share of the peak is the least time of the roofline over the time that it took") {
  const CacheFolder folder;
  const MachinePeak peak = measure_machine_peak();
  struct Case {
    Work work;
    double least_seconds;
    const char* bound;
  };
  const double flop = 1e6, bytes = 1e6;
  const std::vector<Case> cases = {
      {{.flop = flop, .bytes = 1}, flop / peak.float32_flop_rate, "compute"},
      {{.flop = flop, .bytes = 1, .dtype = DType::float64},
       flop / peak.float64_flop_rate,
       "compute"},
      {{.flop = 1, .bytes = bytes}, bytes / peak.byte_rate, "memory"},
      // Moving integers costs bytes alone; of their arithmetic no peak is known.
      {{.bytes = bytes, .dtype = DType::int64}, bytes / peak.byte_rate, "memory"}};
  for (const auto& [work, least_seconds, bound] : cases) {
    const auto records = measure({{.run = [] {}, .work = work}}, {"time"}, {.samples = 3});
    const auto share = std::ranges::find(records, "share_of_peak", &Measurement::metric);
    REQUIRE(share != records.end());
    REQUIRE(records.front().metric == "time");
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(share->samples.at(i) ==
            Approx(least_seconds / records.front().samples.at(i)).epsilon(1e-12));
    }
    CHECK(share->conditions.at("bound") == bound);
    const bool told = share->reason.find("above the peak") != std::string::npos;
    CHECK(told == (bound == std::string("compute")));  // nothing at all takes less than the least
  }
}

TEST_CASE("there is no share of what is not known") {
  const CacheFolder folder;
  const auto has_share = [](const Work& work, const std::string& device = "cpu") {
    const auto records = measure({{.record = {.device = device}, .run = [] {}, .work = work}},
                                 {"time"}, {.samples = 3});
    return std::ranges::find(records, "share_of_peak", &Measurement::metric) != records.end();
  };
  CHECK_FALSE(has_share({.flop = 1, .bytes = 1}));  // no peak
  (void)measure_machine_peak();
  CHECK(has_share({.flop = 1, .bytes = 1}));
  CHECK_FALSE(has_share({.flop = 1}));
  CHECK_FALSE(has_share({.flop = 1, .bytes = 1, .dtype = DType::int32}));
  CHECK_FALSE(has_share({.flop = 1, .bytes = 1}, "toy"));  // it is the processor's
}

TEST_CASE("a folder that cannot be written is an error that says how to choose another") {
  const CacheFolder folder;
  setenv("D5_CACHE_DIR", "/proc/none", 1);
  CHECK_THROWS_WITH(measure_machine_peak(), Catch::Contains("D5_CACHE_DIR selects another folder"));
}
