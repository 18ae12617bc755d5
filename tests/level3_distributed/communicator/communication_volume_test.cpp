// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/communication_volume.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator/communicator.hpp"

#include <algorithm>

#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/gather_records.hpp"
#include "tests/core/svg_texts.hpp"

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
  const int n = world()->size(), sent = 2 * (n - 1) * 400 / n;
  const double bytes_a_run = 2 * sent;
  CHECK(record.samples == std::vector<double>{bytes_a_run, 0});
  CHECK(record.conditions["rank"] == std::to_string(world()->rank()));
  CHECK(record.conditions["ranks"] == std::to_string(world()->size()));
  CHECK(record.conditions["all_reduce.calls"] == "2");
  CHECK(record.conditions["all_reduce.bytes_sent"] == std::to_string(2 * sent));
  CHECK(record.conditions["barrier.calls"] == "1");
}

TEST_CASE("communication volume tells partners and sizes, and draws them") {
  const int n = world()->size(), rank = world()->rank();
  if (n == 1) return;
  CommunicationVolume volume(world());
  Tensor small = Tensor::zeros(DType::float32, {100}),
         large = Tensor::zeros(DType::float32, {2000});
  volume.begin(1);
  world()->all_reduce(large);
  const auto sending = world()->start_send(small, (rank + 1) % n);
  world()->receive(small, (rank + n - 1) % n);
  sending->wait();
  volume.end();
  Measurement record;
  record.metric = volume.name();
  record.subject = "a test";
  volume.summarise(record);
  CHECK(record.conditions["sent_to." + std::to_string((rank + 1) % n)] == "400");
  const int sent = 2 * (n - 1) * 8000 / n;
  CHECK(record.conditions["sent_to.all"] == std::to_string(sent));
  CHECK(record.conditions["calls_of_bytes.256"] == "1");
  CHECK(record.conditions["calls_of_bytes." + std::to_string(sent < 8192 ? 4096 : 8192)] == "1");

  const auto plots = volume_plots(gather_records({record}, *world()));
  REQUIRE(plots.size() == 2);
  CHECK(plots.front().name == "volume-matrix");
  for (const auto& plot : plots) CHECK(testing::faults_of_texts(plot) == "");
  CHECK(plots.front().rows.size() == static_cast<std::size_t>(n));
  // A cell and its number for the neighbour and for collectives, of each rank.
  CHECK(plots.front().marks.size() == static_cast<std::size_t>(4 * n));
  CHECK(plots.back().marks.size() == 2);
  CHECK(std::ranges::all_of(plots.back().marks,
                            [&](const PlotMark& mark) { return mark.points.back().y == n; }));
}
