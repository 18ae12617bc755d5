// SPDX-License-Identifier: Apache-2.0
// Level 1: a network built by code, run forward and backward, and the overhead of the executor over
// its operators.
#include <iostream>

#include "d5/d5.hpp"

int main() {
  using namespace d5;
  auto executor = make_executor(models().at("lenet").make({{"with_loss", true}}));

  Tensor image = Tensor::zeros(DType::float32, {4, 1, 28, 28});
  RandomStream random(7);
  for (float& pixel : image.span<float>()) pixel = random.normal();
  const ValueMap batch{{"image", image}, {"label", Tensor::vector<std::int64_t>({3, 1, 4, 1})}};

  const auto& outputs = executor->inference_and_backprop(batch, "loss");
  std::cout << "loss " << outputs.at("loss").tensor().item<float>() << "\n";
  for (const Parameter& parameter : executor->network().parameters()) {
    std::cout << parameter.name << ": " << to_string(parameter.gradient, 3) << "\n";
  }

  const Subject inference{.record = {.subject = "lenet", .level = "network"},
                          .run = [&] { executor->inference(batch); },
                          .work = {.samples = 4},
                          .events = {&executor->events()}};
  const auto results = measure({inference}, {"time", "framework_overhead"});
  std::cout << to_table(results);
  return exit_status(results);
}
