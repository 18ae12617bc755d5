// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

/// Resident memory of this process.
double resident_bytes() {
  double all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * double(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

TEST_CASE("what is predicted is told apart by what it is for") {
  const auto executor = make_executor(models().at("lenet").make({{"with_loss", true}}));
  const ValueMap inputs = random_inputs(executor->network(), {.batch = 2});
  const PlannedMemory plan = plan_memory(*executor, inputs, "loss");
  const auto prediction = predicted_memory(executor->network(), inputs, plan, "loss");
  CHECK(prediction.parameters == 61706 * 4);
  CHECK(prediction.gradients == 61706 * 4);
  CHECK(prediction.inputs == 2 * 28 * 28 * 4 + 2 * 8);
  CHECK(prediction.plan == plan.bytes());
  CHECK(predicted_memory(executor->network(), inputs, plan).gradients == 0);
}

TEST_CASE("the system sees what was predicted, in inference and in training") {
  // Kernels, threads and the network's description take some megabytes that no plan knows.
  constexpr double kBeside = 24e6, kShare = 0.03;
  const auto check = [](const char* model, std::int64_t batch, const std::string& loss) {
    INFO(model);
    const double before = resident_bytes();
    const auto executor = make_executor(
        models().at(model).make({{"with_loss", !loss.empty()}, {"training", !loss.empty()}}));
    const ValueMap inputs = random_inputs(executor->network(), {.batch = batch});
    const PlannedMemory plan = plan_memory(*executor, inputs, loss);
    const double predicted =
        double(predicted_memory(executor->network(), inputs, plan, loss).bytes());
    if (loss.empty()) {
      (void)executor->inference(inputs);
    } else {
      (void)executor->inference_and_backprop(inputs, loss);
    }
    const double seen = resident_bytes() - before;
    INFO("predicted " << predicted << ", seen " << seen);
    CHECK(std::abs(seen - predicted) <= kShare * predicted + kBeside);
    CHECK(double(plan.bytes()) > 2 * (kShare * predicted + kBeside));  // or it would not be seen
  };
  check("vgg-11", 8, "");
  check("resnet-20", 128, "loss");
}

TEST_CASE("a benchmark of peak memory tells what was predicted beside it") {
  const auto records = bench_network(
      "lenet", {.sizes = {.batch = 64}, .metrics = {"peak_memory"}, .measuring = {.samples = 1}});
  REQUIRE(records.size() == 2);
  CHECK(records[1].metric == "predicted_memory");
  REQUIRE(records[1].samples.size() == 1);
  CHECK(records[1].samples[0] > 61706 * 4);
  CHECK(records[1].samples[0] < records[0].samples[0]);
}
