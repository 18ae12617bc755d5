// SPDX-License-Identifier: Apache-2.0
// Uses an installed d5: a network by code, run with the reference and with a plug-in from outside.
#include <cstdio>
#include <cstdlib>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/tensor.hpp"  // as it was before rooms
#include "d5/d5.hpp"

int main() {
  using namespace d5;
  Network network("consumer");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_node("Triple", {"x"}, {"tripled"}).domain = "org.example";
  network.add_node("Relu", {"tripled"}, {"y"});
  network.add_output("y");
  auto executor = make_executor(std::move(network), {.frameworks = {"outside", "reference"}});
  const auto& outputs = executor->inference({{"x", Tensor::of<float>({2}, {-1.f, 2.f})}});
  const auto y = outputs.at("y").tensor().span<float>();
  std::printf("y = [%g, %g], metric call_count %s\n", y[0], y[1],
              metrics().find("call_count") ? "known" : "missing");
  return y[0] == 0 && y[1] == 6 && metrics().find("call_count") ? EXIT_SUCCESS : EXIT_FAILURE;
}
