// SPDX-License-Identifier: Apache-2.0
// Caches of GroupQueryAttention, updated in their own memory.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "tests/level1_network/grouped_cache.hpp"

using namespace d5;
using test::grouped_cache;
using test::grouped_step;

namespace {

std::vector<float> numbers_of(const Tensor& tensor) {
  return {tensor.span<float>().begin(), tensor.span<float>().end()};
}

/// Runs updates in place and copied through the same steps, which agree to the bit.
std::vector<PlannedUpdate> run_grouped(const Network& network) {
  const auto in_place = make_executor(network.copy());
  const auto copied = make_executor(network.copy(), {}, UpdatePlace::copied);
  for (const ValueMap& inputs :
       {grouped_step({2, 2}, 2, 0.3F), grouped_step({3, 2}, 1, 0.6F), grouped_step({4, 3}, 1, 0.2F),
        grouped_step({6, 5}, 2, 0.9F), grouped_step({1, 6}, 1, 0.5F)}) {
    const ValueMap& got = in_place->inference(inputs);
    for (const auto& [name, value] : copied->inference(inputs)) {
      CHECK(numbers_of(got.at(name).tensor()) == numbers_of(value.tensor()));
    }
    for (const auto& [constant, output] : network.updates()) {
      CHECK(numbers_of(in_place->network().fetch(constant)) ==
            numbers_of(copied->network().fetch(constant)));
    }
  }
  for (const PlannedUpdate& update : planned_updates(*copied)) CHECK(update.copied_bytes > 0);
  return planned_updates(*in_place);
}

}  // namespace

TEST_CASE("caches of GroupQueryAttention are updated in place, step by step as with copies") {
  const auto updates = run_grouped(grouped_cache(2));
  REQUIRE(updates.size() == 2);
  for (const PlannedUpdate& update : updates) {
    INFO(update.constant << ": " << update.reason);
    CHECK(update.copied_bytes == 0);
  }
}

TEST_CASE("a step of GroupQueryAttention in place writes to no row but the new one") {
  // A cache of a row a page, all but one read-only: any other write ends the process.
  const auto page = std::size_t(sysconf(_SC_PAGESIZE));
  const auto size = std::int64_t(page / sizeof(float));
  constexpr std::int64_t kRows = 4;
  void* memory[2];
  Network network("paged");
  for (const char* name : {"query", "key", "value"}) {
    network.add_input(name, DType::float32, {1, 1, size});
  }
  network.add_input("last", DType::int32, {1});
  network.add_constant("rows", Tensor::scalar(std::int32_t(kRows)));
  const char* caches[] = {"past_key", "past_value"};
  for (int i = 0; i < 2; ++i) {
    memory[i] =
        mmap(nullptr, kRows * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory[i] != MAP_FAILED);
    network.add_constant(caches[i],
                         Tensor::borrow({DType::float32, {1, 1, kRows, size}}, memory[i]));
  }
  onnx::Node node;
  node.op_type = "GroupQueryAttention";
  node.domain = "com.microsoft";
  node.inputs = {"query", "key", "value", "past_key", "past_value", "last", "rows"};
  node.outputs = {"y", "present_key", "present_value"};
  node.attributes = {{"num_heads", std::int64_t{1}}, {"kv_num_heads", std::int64_t{1}}};
  network.splice({.nodes = {node}});
  network.add_output("y");
  network.add_update("past_key", "present_key");
  network.add_update("past_value", "present_value");
  {
    const auto executor = make_executor(network);
    Tensor row = Tensor::zeros(DType::float32, {1, 1, size});
    for (std::int32_t i = 0; i < kRows; ++i) {
      for (void* cache : memory) {
        REQUIRE(mprotect(cache, kRows * page, PROT_READ) == 0);
        REQUIRE(mprotect(static_cast<std::byte*>(cache) + std::size_t(i) * page, page,
                         PROT_READ | PROT_WRITE) == 0);
      }
      for (float& number : row.span<float>()) number = float(i + 1);
      const ValueMap& outputs =
          executor->inference({{"query", Tensor::zeros(DType::float32, {1, 1, size})},
                               {"key", row},
                               {"value", row},
                               {"last", Tensor::vector<std::int32_t>({i})}});
      // A query of zeros reads the mean of the rows 1, 2, ..., i + 1.
      CHECK(std::abs(outputs.at("y").tensor().span<float>()[0] - float(i + 2) / 2) < 1e-6F);
    }
    for (const PlannedUpdate& update : planned_updates(*executor)) CHECK(update.reason.empty());
  }
  for (void* cache : memory) munmap(cache, kRows * page);
}

TEST_CASE("whatever else reads a cache of GroupQueryAttention keeps its update a copy") {
  const auto reason_of = [](const Network& network, const std::string& constant) {
    for (const PlannedUpdate& update : run_grouped(network)) {
      if (update.constant == constant) return update.reason;
    }
    return std::string("no update");
  };
  SECTION("a node") {
    Network network = grouped_cache(2);
    network.add_node("Neg", {"past_key"}, {"z"}, {}, "other");
    network.add_output("z");
    CHECK_THAT(reason_of(network, "past_key"), Catch::Contains("Neg 'other' reads 'past_key'"));
    CHECK(reason_of(network, "past_value").empty());
  }
  SECTION("an output of the network") {
    Network network = grouped_cache(2);
    network.add_output("present_value");
    CHECK(reason_of(network, "past_key").empty());
    CHECK_THAT(reason_of(network, "past_value"), Catch::Contains("output of the network"));
  }
  SECTION("caches that change places") {
    Network network = grouped_cache(2);
    network.add_update("past_key", "present_value");
    network.add_update("past_value", "present_key");
    CHECK_THAT(reason_of(network, "past_key"), Catch::Contains("does not read 'past_key'"));
  }
}

TEST_CASE("lengths outside the cache of GroupQueryAttention are refused, and the step runs again") {
  const auto executor = make_executor(grouped_cache(2));
  (void)executor->inference(grouped_step({1, 1}, 1, 0.3F));
  CHECK_THROWS_AS(executor->inference(grouped_step({2, 7}, 1, 0.4F)), ValueError);
  (void)executor->inference(grouped_step({2, 2}, 1, 0.4F));
  const auto twin = make_executor(grouped_cache(2), {}, UpdatePlace::copied);
  (void)twin->inference(grouped_step({1, 1}, 1, 0.3F));
  (void)twin->inference(grouped_step({2, 2}, 1, 0.4F));
  CHECK(numbers_of(executor->network().fetch("past_key")) ==
        numbers_of(twin->network().fetch("past_key")));
}
