// SPDX-License-Identifier: Apache-2.0
// Inference of built-in networks in every available framework, with the reference for missing
// operators.
#include "benchmarks/side_by_side.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/level1_network/profile/network_bench.hpp"

int main(int argc, char** argv) {
  for (const char* model : {"lenet", "resnet-18", "resnet-50"}) {
    std::vector<d5::benchmarks::Peer> peers = {
        {"reference", [model] { return d5::network_subject(model, "reference"); }}};
    for (const auto& info : d5::frameworks()) {
      if (info.name == "reference") continue;
      peers.push_back({info.name, [model, word = info.name + "+reference"] {
                         return d5::network_subject(model, word);
                       }});
    }
    d5::benchmarks::add(model, peers);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
