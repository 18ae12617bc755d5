// SPDX-License-Identifier: Apache-2.0
// Recordings of arrivals: refused, or moments from 0 on, each not before the last, also when they
// begin again.
#include <cmath>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/arrival_stream.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {

std::string name() { return "arrivals"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  std::string text = "seconds,what\n0.5,a\n0.5\n1.25 x\r\n2e0,b\n\n1e3\n1700000000.123456\n";
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    text = one_in(random, 2) ? with_damage(text, random) : with_other_number(text, random);
  }
  return text;
}

std::string run_case(const std::string& text) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "case.csv") << text;  // write_file waits for the disk
  for (const bool loop : {false, true}) {
    for (const double speed : {1.0, 0.001, 3.0}) {
      const auto arrivals =
          recorded_arrivals({.file = folder / "case.csv", .speed = speed, .loop = loop});
      double last = 0;
      for (int i = 0; i < 50; ++i) {
        const auto moment = arrivals->next();
        if (!moment) break;
        if (!std::isfinite(*moment) || *moment < last) return "a moment is none, or before another";
        last = *moment;
      }
    }
  }
  return {};
}

}  // namespace d5::fuzz
