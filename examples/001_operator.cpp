// SPDX-License-Identifier: Apache-2.0
// Level 0: is an operator right, and how fast is it? The same case in every framework that is
// there, interleaved, and its gradient against central differences.
#include <iostream>

#include "d5/d5.hpp"

int main() {
  using namespace d5;
  std::vector<std::string> everywhere;
  for (const auto& info : frameworks()) everywhere.push_back(info.name);

  std::vector<Measurement> results =
      bench("Conv 8x16x32x32 32x16x3x3 pads=1x1x1x1", {.frameworks = everywhere});
  for (auto& row : test_gradient(parse_case("Conv 1x2x5x5 3x2x3x3"), "reference")) {
    results.push_back(std::move(row));
  }
  std::cout << to_table(results);
  return exit_status(results);
}
