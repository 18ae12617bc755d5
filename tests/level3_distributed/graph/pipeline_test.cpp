// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "d5/level3_distributed/graph/pipeline_stage.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

constexpr std::int64_t kMicroBatch = 2;

Network whole_lenet() { return models().at("lenet").make({{"seed", 5}, {"with_loss", true}}); }

std::vector<NetworkPart> cut_lenet(const Network& network, int parts) {
  return partitions().at("pipeline").make({{"batch", kMicroBatch}})->cut(network, parts);
}

/// The same on every rank.
std::vector<ValueMap> micro_batches(int count) {
  RandomStream random(23);
  std::vector<ValueMap> result;
  for (int i = 0; i < count; ++i) {
    Tensor image = Tensor::empty(DType::float32, {kMicroBatch, 1, 28, 28});
    Tensor label = Tensor::empty(DType::int64, {kMicroBatch});
    for (auto& pixel : image.span<float>()) pixel = random.uniform();
    for (auto& one : label.span<std::int64_t>()) one = std::int64_t(random.below(10));
    result.push_back({{"image", image}, {"label", label}});
  }
  return result;
}

/// y = (a x) + (b (a x)): what the first node writes, the second and the third read.
Network skipping() {
  Network network("skipping");
  network.add_input("x", DType::float64, {"N"});
  network.add_parameter("a", Tensor::of<double>({1}, {3}));
  network.add_parameter("b", Tensor::of<double>({1}, {5}));
  network.add_node("Mul", {"a", "x"}, {"ax"});
  network.add_node("Mul", {"b", "ax"}, {"bax"});
  network.add_node("Add", {"ax", "bax"}, {"sum"});
  network.add_node("ReduceSum", {"sum"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

}  // namespace

TEST_CASE("stages on ranks have the loss and the gradients of the uncut network") {
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const int count : {1, 4}) {
      INFO(schedule << ", " << count);
      Network whole = whole_lenet();
      const auto parts = cut_lenet(whole, rank_count);
      PipelineStage stage(parts.at(std::size_t(this_rank)), "loss", world(),
                          pipeline_schedules().at(schedule).make());
      const auto batches = micro_batches(count);
      const auto loss = stage.run(batches);

      const auto executor = make_executor(whole);
      std::map<std::string, std::vector<double>> sums;
      double expected = 0;
      for (const ValueMap& batch : batches) {
        const ValueMap& outputs = executor->inference_and_backprop(batch, "loss");
        expected += double(outputs.at("loss").tensor().item<float>()) / count;
        for (const Parameter& parameter : whole.parameters()) {
          auto& sum = sums[parameter.name];
          sum.resize(std::size_t(parameter.gradient.elements()));
          for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += double(parameter.gradient.data<float>()[i]) / count;
          }
        }
      }
      CHECK(loss.has_value() == (this_rank == last_rank));
      if (loss)
        CHECK(*loss == Approx(expected).epsilon(1e-12));  // the same forward, added in double
      for (const Parameter& parameter : stage.network().parameters()) {
        INFO(parameter.name);
        double difference = 0, size = 0;
        const auto& sum = sums.at(parameter.name);
        for (std::size_t i = 0; i < sum.size(); ++i) {
          difference += std::pow(double(parameter.gradient.data<float>()[i]) - sum[i], 2);
          size += sum[i] * sum[i];
        }
        // 1/m is a power of two: only the sum of four gradients rounds, by 2^-24 each.
        CHECK(std::sqrt(difference) <= 1e-6 * std::sqrt(size));
      }
    }
  }
}

TEST_CASE("parts hold every node, parameter and output once") {
  Network whole = whole_lenet();
  for (int k = 1; k <= 4; ++k) {
    const auto parts = cut_lenet(whole, k);
    REQUIRE(parts.size() == std::size_t(k));
    std::size_t nodes = 0, parameters = 0;
    for (std::size_t s = 0; s < parts.size(); ++s) {
      Network network = parts[s].network;
      CHECK_FALSE(network.graph().nodes.empty());
      nodes += network.graph().nodes.size();
      parameters += network.parameters().size();
      for (const CutTensor& cut : parts[s].receives) CHECK(cut.from < int(s));
      for (const CutTensor& cut : parts[s].sends) CHECK(cut.to.front() > int(s));
    }
    CHECK(nodes == whole.graph().nodes.size());
    CHECK(parameters == whole.parameters().size());
  }
}

TEST_CASE("a partition of one's own is an entry like d5's") {
  /// The last nodes a part each, all others in the first.
  struct LastApart final : Partition {
    std::vector<NetworkPart> cut(const Network& network, int parts) const override {
      std::vector<std::size_t> starts{0};
      const std::size_t nodes = network.graph().nodes.size();
      for (int part = 1; part < parts; ++part) {
        starts.push_back(nodes - std::size_t(parts) + std::size_t(part));
      }
      return cut_into_stages(network, starts, {.batch = kMicroBatch});
    }
  };
  if (!partitions().find("last_apart")) {
    partitions().add("last_apart", PartitionEntry::of<LastApart>("test partition"));
  }
  Network whole = whole_lenet();
  auto parts = partitions().at("last_apart").make()->cut(whole, rank_count);
  PipelineStage stage(parts.at(std::size_t(this_rank)), "loss", world(),
                      pipeline_schedules().at("1f1b").make());
  const auto batches = micro_batches(1);
  const auto loss = stage.run(batches);
  const auto executor = make_executor(whole);
  const ValueMap& outputs = executor->inference_and_backprop(batches.front(), "loss");
  if (loss) CHECK(*loss == outputs.at("loss").tensor().item<float>());
  for (const Parameter& parameter : stage.network().parameters()) {
    CAPTURE(parameter.name);
    const Tensor& its = whole.parameter(parameter.name).gradient;
    CHECK(std::memcmp(parameter.gradient.raw(), its.raw(), its.bytes()) == 0);
  }
}

TEST_CASE("stages are balanced by times that are measured, or begin where one says") {
  const Network whole = whole_lenet();
  const auto cut = [&](const Settings& settings) {
    return partitions().at("pipeline").make(settings)->cut(whole, 2);
  };
  const auto measured = cut({{"costs", "measured"}, {"batch", kMicroBatch}});
  CHECK(measured[0].network.graph().nodes.size() + measured[1].network.graph().nodes.size() ==
        whole.graph().nodes.size());
  CHECK(cut({{"starts", "0,2"}})[0].network.graph().nodes.size() == 2);
  for (const std::string starts : {"0", "0,1,2", "0,x", "0,,1", "1,2", "0,99"}) {
    CAPTURE(starts);
    CHECK_THROWS_AS(cut({{"starts", starts}}), ValueError);
  }
}

TEST_CASE("a tensor that two later stages read has the gradients of both") {
  if (rank_count != 3) return;
  const auto parts = cut_into_stages(skipping(), {0, 1, 2}, {});
  CHECK(parts[0].sends.at(0).to == std::vector<int>{1, 2});
  PipelineStage stage(parts.at(std::size_t(this_rank)), "loss", world(),
                      pipeline_schedules().at("1f1b").make());
  const std::vector<ValueMap> batches{{{"x", Tensor::of<double>({1}, {2})}}};
  const auto loss = stage.run(batches);
  if (loss) CHECK(*loss == 3 * 2 + 5 * 3 * 2);
  if (this_rank == 0) CHECK(stage.network().parameter("a").gradient.item<double>() == 2 + 5 * 2);
  if (this_rank == 1) CHECK(stage.network().parameter("b").gradient.item<double>() == 3 * 2);
}

TEST_CASE("stages begin where the longest is shortest") {
  using Starts = std::vector<std::size_t>;
  const std::vector<double> free(5, 0.0), costs{1, 1, 1, 1, 4};
  CHECK(stage_starts(costs, free, 1) == Starts{0});
  CHECK(stage_starts(costs, free, 2) == Starts{0, 4});
  CHECK(stage_starts(std::vector<double>{4, 1, 1, 1, 1}, free, 2) == Starts{0, 1});
  CHECK(stage_starts(costs, free, 5) == Starts{0, 1, 2, 3, 4});
  // Entering tensors count: before node 4 they cost 9, before node 3 nothing, and 1 + 4 < 9 + 4.
  CHECK(stage_starts(costs, std::vector<double>{0, 9, 9, 0, 9}, 2) == Starts{0, 3});
  const double never = std::numeric_limits<double>::infinity();
  CHECK(stage_starts(costs, std::vector<double>{0, never, 0, never, never}, 2) == Starts{0, 2});
  CHECK_THROWS_AS(stage_starts(costs, std::vector<double>{0, never, 0, never, never}, 3),
                  Unsupported);
  CHECK_THROWS_AS(stage_starts(costs, free, 6), ValueError);
  CHECK_THROWS_AS(stage_starts(costs, free, 0), ValueError);
  CHECK_THROWS_AS(stage_starts(costs, std::vector<double>{0}, 2), ShapeError);
}

TEST_CASE("cuts that cannot be made are refused") {
  const Network network = skipping();
  CHECK_THROWS_AS(cut_lenet(network, 5), ValueError);
  CHECK_THROWS_AS(cut_lenet(network, 0), ValueError);
  using Starts = std::vector<std::size_t>;
  CHECK_THROWS_AS(cut_into_stages(network, Starts{}, {}), ValueError);
  CHECK_THROWS_AS(cut_into_stages(network, Starts{1, 2}, {}), ValueError);
  CHECK_THROWS_AS(cut_into_stages(network, Starts{0, 2, 2}, {}), ValueError);
  CHECK_THROWS_AS(cut_into_stages(network, Starts{0, 4}, {}), ValueError);

  Network tied("tied");
  tied.add_input("x", DType::float64, {"N"});
  tied.add_parameter("a", Tensor::of<double>({1}, {3}));
  tied.add_node("Mul", {"a", "x"}, {"ax"});
  tied.add_node("Mul", {"a", "ax"}, {"y"});
  tied.add_output("y");
  CHECK_THROWS_AS(cut_into_stages(tied, Starts{0, 1}, {}), Unsupported);
  CHECK_THROWS_AS(cut_lenet(tied, 2), Unsupported);
}

TEST_CASE("a pipeline without a loss is refused on every rank") {
  const auto make = [](const std::string& loss) {
    auto parts = cut_lenet(whole_lenet(), rank_count);
    PipelineStage(parts.at(std::size_t(this_rank)), loss, world(),
                  pipeline_schedules().at("gpipe").make());
  };
  CHECK_THROWS_AS(make("los"), NotFound);
}

TEST_CASE("a pipeline runs one micro-batch or more") {
  auto parts = cut_lenet(whole_lenet(), rank_count);
  PipelineStage stage(parts.at(std::size_t(this_rank)), "loss", world(),
                      pipeline_schedules().at("gpipe").make());
  CHECK_THROWS_AS(stage.run({}), ValueError);
}
