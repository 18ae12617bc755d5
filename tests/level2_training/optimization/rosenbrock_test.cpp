// SPDX-License-Identifier: Apache-2.0
#include "tests/level2_training/rosenbrock.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "d5/level2_training/optimization/step_modifier.hpp"
#include "tests/level2_training/python_script.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

TEST_CASE("optimizers go down Rosenbrock's function as others do, each on its own") {
  const testing::TemporaryFolder folder;
  if (!test::run_script("torch_rosenbrock.py", folder.path().string())) return;
  int cases = 0;
  std::ifstream index(folder.path() / "index.txt");
  for (std::string line; std::getline(index, line); ++cases) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string file, name, word;
    std::size_t n = 0;
    words >> file >> n >> name;
    Settings settings;
    while (words >> word) {
      settings.set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    }
    const auto rows = test::read_doubles(folder.path() / file);
    const auto optimizer = open_optimizer(
        name, test::rosenbrock({rows.begin(), rows.begin() + std::int64_t(n)}), "loss", settings);
    double largest = 0;
    for (std::size_t at = n; at < rows.size(); at += n) {
      optimizer->step({});
      const auto w = optimizer->executor().network().parameter("w").value.span<double>();
      for (std::size_t i = 0; i < n; ++i) {
        largest = std::max(largest, std::abs(w[i] - rows[at + i]));
      }
    }
    // Each goes on from its own roundings, which the valley's walls (curvature 1000) enlarge and
    // line searches divide by small slopes; another rule is 1e-3 away after a step.
    CHECK(largest < 1e-9);
  }
  CHECK(cases == 12);
}

TEST_CASE("L-BFGS finds the ground of Rosenbrock's valley") {
  const auto optimizer =
      open_optimizer("lbfgs", test::rosenbrock({-1.2, 1}), "loss", {{"least_change", 1e-14}});
  for (int step = 0; step < 10; ++step) optimizer->step({});
  for (const double w : optimizer->executor().network().parameter("w").value.span<double>()) {
    CHECK(w == Approx(1).epsilon(1e-6));
  }
}
