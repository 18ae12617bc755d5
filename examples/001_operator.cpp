// SPDX-License-Identifier: Apache-2.0
// Level 0: speed and correctness of an operator. One case in every available framework,
// interleaved.
#include <iostream>

#include "d5/d5.hpp"

int main() {
  using namespace d5;
  const auto results = bench("Conv 8x16x32x32 32x16x3x3 pads=1x1x1x1",
                             {.frameworks = {"all"}, .passes = BenchOptions::Passes::forward});
  std::cout << to_table(results);
  return exit_status(results);
}
