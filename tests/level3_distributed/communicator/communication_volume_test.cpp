// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communication_volume.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator.hpp"

#include "d5/core/measurement.hpp"

using namespace d5;

TEST_CASE("communication volume counts the bytes of a run, and nothing before or after") {
  CommunicationVolume volume(world());
  Tensor data = Tensor::zeros(DType::float32, {100});
  world()->all_reduce(data);
  volume.begin(2);
  world()->all_reduce(data);
  world()->all_reduce(data);
  volume.end();
  world()->all_reduce(data);
  volume.begin(1);
  world()->barrier();
  volume.end();

  Measurement record;
  volume.summarise(record);
  const double bytes_a_run = world()->size() == 1 ? 0 : 800;
  CHECK(record.samples == std::vector<double>{bytes_a_run, 0});
  CHECK(record.conditions["rank"] == std::to_string(world()->rank()));
  CHECK(record.conditions["ranks"] == std::to_string(world()->size()));
  CHECK(record.conditions["all_reduce.calls"] == "2");
  CHECK(record.conditions["all_reduce.bytes_sent"] == (world()->size() == 1 ? "0" : "800"));
  CHECK(record.conditions["barrier.calls"] == "1");
}
