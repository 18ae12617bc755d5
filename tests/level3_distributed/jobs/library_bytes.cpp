// SPDX-License-Identifier: Apache-2.0
// Run by library_bytes_test under mpirun: prints the bytes that a rank's library sends for one
// collective of 1000 floats and the bytes that d5 counts, one line per rank: "rank ring: traffic
// 6000, library 0 6000".
#include "d5/level3_distributed/communicator/library_traffic.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"

namespace {

using namespace d5;

void tell(const std::string& name, const std::function<void()>& call) {
  const auto ranks = world();
  ranks->barrier();
  const Traffic traffic = ranks->traffic();
  const auto before = library_bytes_sent();
  call();
  const auto after = library_bytes_sent();
  std::string line = fmt::format("{} {}: traffic {}, library", ranks->rank(), name,
                                 ranks->traffic().since(traffic).total().bytes_sent);
  for (std::size_t rank = 0; rank < after.size(); ++rank) {
    line += fmt::format(" {}", after[rank] - before[rank]);
  }
  std::printf("%s\n", line.c_str());
  ranks->barrier();
}

}  // namespace

int main(int argc, char**) {
  try {
    if (argc == 1) count_library_traffic();
    Tensor data = Tensor::zeros(DType::float32, {1000});
    tell("mpi", [&] { world()->all_reduce(data); });
    tell("started", [&] { world()->start_all_reduce(data)->wait(); });
    for (const char* name : {"ring", "recursive_doubling"}) {
      const auto algorithm = all_reduces().at(name).make();
      tell(name, [&] { algorithm->start(*world(), data)->wait(); });
    }
    count_library_traffic();
  } catch (const Error& error) {
    std::printf("refused: %s\n", error.what());
  }
  return 0;
}
