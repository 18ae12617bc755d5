// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_map.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/core/svg_texts.hpp"

namespace d5 {
namespace {

/// Ten pairs around a ratio.
Measurement cell_of(const std::string& kernel, const std::string& resources,
                    const std::string& metric, double ratio) {
  Measurement record{.subject = kernel, .level = "prediction", .metric = metric, .unit = "1"};
  for (int i = 0; i < 10; ++i) record.samples.push_back(ratio + 0.001 * i);
  record.conditions = {{"resources", identity(resources)},
                       {"ranks", identity(2)},
                       {"bytes", identity("1MiB")},
                       {"all_reduce", identity("ring")}};
  return record;
}

std::vector<Measurement> map_of(double first, double second) {
  return {cell_of("a", "threads=0", "kernel_slowdown", first),
          cell_of("a", "threads=0", "all_reduce_slowdown", second),
          cell_of("a", "threads=1", "kernel_slowdown", 4)};
}

Results results_of(std::vector<Measurement> records, const std::string& host = "h") {
  Results results;
  results.measurements = std::move(records);
  results.environment.hostname = host;
  results.environment.threads = 1;
  return results;
}

TEST_CASE("a map's table has a row a kernel, a column a resource and both slowdowns") {
  auto records = map_of(1.5, 2);
  records.back().status = Status::mistrusted;
  const TextTable table = overlap_map_table(records);
  REQUIRE(table.columns().size() == 3);
  REQUIRE(table.rows().size() == 1);
  CHECK(table.rows().front() == std::vector<std::string>{"a", "1.50 / 2.00", "4.00? / -"});
}

TEST_CASE("a map is drawn both ways, a box a cell") {
  const auto plots = overlap_map_plots(map_of(1.5, 2));
  REQUIRE(plots.size() == 2);
  CHECK(plots[0].marks.size() == 2);
  CHECK(plots[0].marks[1].label == "4.00");
  CHECK(plots[0].marks[0].series < plots[0].marks[1].series);
  CHECK(plots[1].marks.size() == 1);
  for (const auto& plot : plots) CHECK(testing::faults_of_texts(plot) == "");
}

TEST_CASE("two maps agree in the cells whose intervals meet") {
  const auto agreement =
      compare_overlap_maps(results_of(map_of(1.5, 2)), results_of(map_of(1.501, 3)));
  REQUIRE(agreement.cells.size() == 3);
  CHECK(agreement.cells[0].agree);
  CHECK_FALSE(agreement.cells[1].agree);
  CHECK(agreement.share() == Approx(2.0 / 3));
}

TEST_CASE("maps of another machine, or of other threads or ranks, are refused") {
  const Results map = results_of(map_of(1, 1));
  CHECK_THROWS_WITH(compare_overlap_maps(map, results_of(map_of(1, 1), "other")),
                    Catch::Contains("different machines: h and other"));
  Results threads = map;
  threads.environment.threads = 2;
  CHECK_THROWS_WITH(compare_overlap_maps(map, threads), Catch::Contains("different threads"));
  Results ranks = map;
  for (auto& record : ranks.measurements) record.conditions["ranks"] = identity(4);
  CHECK_THROWS_AS(compare_overlap_maps(map, ranks), ValueError);
  const auto forced = compare_overlap_maps(map, threads, Misfit::mistrust);
  CHECK(forced.cells.size() == 3);
  CHECK_THAT(forced.mistrusted, Catch::Contains("different threads"));
  CHECK(compare_overlap_maps(map, map).mistrusted.empty());
}

TEST_CASE("records of rounds are one cell, and agree if rounds differ as much within each map") {
  const auto rounds_of = [](std::vector<double> slowdowns) {
    std::vector<Measurement> records;
    for (const double one : slowdowns) {
      records.push_back(cell_of("a", "threads=0", "all_reduce_slowdown", one));
    }
    return records;
  };
  // Medians lie 0.0045 above: the geometric mean of 1 and 4 is 2.
  const TextTable table = overlap_map_table(rounds_of({0.9955, 3.9955}));
  CHECK(table.rows().front() == std::vector<std::string>{"a", "- / 2.00"});
  const auto compared = [&](std::vector<double> first, std::vector<double> second) {
    return compare_overlap_maps(results_of(rounds_of(first)), results_of(rounds_of(second)));
  };
  const auto agreement = compared({1.5, 2, 3}, {1.8, 2.6, 2.2});
  REQUIRE(agreement.cells.size() == 1);
  CHECK(agreement.share() == 1);
  CHECK(compared({1.5, 1.51, 1.52}, {1.8, 1.81, 1.82}).share() == 0);
}

TEST_CASE("a rank alone, no pair and an impossible resource are refused before anything runs") {
  CHECK_THROWS_WITH(overlap_map({}, {}, *world()), Catch::Contains("mpirun -np 2"));
}

TEST_CASE("the study's kernels are five, as large as asked") {
  for (const auto scale : {KernelScale::l2, KernelScale::l3, KernelScale::memory}) {
    CHECK(study_kernel_cases(scale).size() == 5);
  }
  CHECK(study_kernel_cases(KernelScale::full)[2] ==
        "Conv 64x64x224x224 64x64x7x7 strides=2x2 pads=3x3x3x3");
}

TEST_CASE("kernels run forward and backward, and nodes of a network alone") {
  const auto kernels = kernels_of_cases(study_kernel_cases(KernelScale::l2), "reference");
  CHECK(kernels.size() == 10);
  for (const auto& kernel : kernels) {
    CAPTURE(kernel.name, kernel.reason);
    REQUIRE(kernel.run);
  }
  kernels[6].run();  // ReLU
  for (const auto& kernel : kernels_of_network("lenet", 2, "reference")) {
    CAPTURE(kernel.name, kernel.reason);
    REQUIRE(kernel.run);
    kernel.run();
    CHECK(kernel.bytes > 0);
  }
}

TEST_CASE("a kernel says its FLOP and the bytes of its tensors") {
  const auto kernels = kernels_of_cases({"Gemm 64x32 32x16"}, "reference");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].flop == 2 * 64 * 32 * 16);
  CHECK(kernels[0].bytes == 4 * (64 * 32 + 32 * 16 + 64 * 16));
  CHECK(kernels[1].flop == 2 * kernels[0].flop);  // a product for each input
}

}  // namespace
}  // namespace d5
