// SPDX-License-Identifier: Apache-2.0
// Level 0: is an operator right, and how fast is it? The same case for every framework that is
// there.
#include <iostream>

#include "d5/d5.hpp"

int main() {
  using namespace d5;
  const OperatorCase convolution = parse_case("Conv 8x16x32x32 32x16x3x3 pads=1x1x1x1");

  std::vector<Measurement> results = test_gradient(parse_case("Conv 1x2x5x5 3x2x3x3"), "reference");
  for (const auto& info : frameworks()) {
    const auto& operators = framework(info.name).part<OperatorRegistry>();
    if (!operators.knows(convolution.node)) continue;
    for (auto& row : test_forward(convolution, info.name)) results.push_back(std::move(row));

    OperatorRunner runner(operators, convolution.node, convolution.inputs);
    const Subject subject{.name = convolution.line, .run = [&] { runner.forward(); }};
    for (auto& row : measure(subject, {metrics().at("time").make()}, {.samples = 30})) {
      row.framework = info.name;
      results.push_back(std::move(row));
    }
  }
  std::cout << to_table(results);
  return exit_status(results);
}
