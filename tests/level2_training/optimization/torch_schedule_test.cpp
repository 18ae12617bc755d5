// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>
#include <sstream>

#include "d5/level2_training/optimization/schedule.hpp"
#include "tests/level2_training/python_script.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

TEST_CASE("schedules follow torch's at every time, and most of them backwards too") {
  constexpr std::size_t kTimes = 100;
  const testing::TemporaryFolder folder;
  if (!test::run_script("torch_schedules.py",
                        folder.path().string() + " " + std::to_string(kTimes))) {
    return;
  }
  std::set<std::string> judged;
  std::ifstream index(folder.path() / "index.txt");
  for (std::string line; std::getline(index, line);) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string file, name, word;
    words >> file >> name;
    Settings settings;
    while (words >> word) {
      settings.set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    }
    judged.insert(name);
    const auto expected = test::read_doubles(folder.path() / file);
    const auto schedule = schedules().at(name).make(settings);
    const bool observes = schedule->observes() != Schedule::Observes::nothing;
    REQUIRE(expected.size() == (observes ? 2 : 1) * kTimes);
    // torch multiplies on from time to time: a hundred roundings.
    const auto follows = [&](std::size_t time) {
      INFO(time);
      CHECK(schedule->at(std::int64_t(time), 0.1) ==
            Approx(expected[time]).epsilon(1e-12).margin(1e-300));
    };
    for (std::size_t time = 0; time < kTimes; ++time) {
      follows(time);
      if (observes) schedule->observe(expected[kTimes + time]);
    }
    for (std::size_t time = kTimes; !observes && time > 0; --time) follows(time - 1);
  }
  for (const auto& name : schedules().names()) CHECK(judged.contains(name));
}
