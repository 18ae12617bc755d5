// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/exchange/shards.hpp"

using namespace d5;

namespace {

Network small_network() { return models().at("lenet").make({{"seed", 4}, {"with_loss", true}}); }

/// loss = mean of (x W + b)^2 over small whole numbers: its gradients are multiples of 1/4, whose
/// sums are exact in any order.
Network exact_network() {
  const auto whole = [](const Shape& shape) {
    Tensor values = Tensor::empty(DType::float32, shape);
    for (std::int64_t i = 0; i < values.elements(); ++i) values.data<float>()[i] = float(i % 5 - 2);
    return values;
  };
  Network network("exact");
  network.add_input("x", DType::float32, {"N", 4});
  for (const std::string part : {"1", "2", "3"}) {
    network.add_parameter("w" + part, whole({4, 4}));
    network.add_parameter("b" + part, whole({4}));
    network.add_node(
        "Gemm",
        {part == "1" ? "x" : "y" + std::to_string(std::stoi(part) - 1), "w" + part, "b" + part},
        {"y" + part});
  }
  network.add_node("Mul", {"y3", "y3"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

std::shared_ptr<DistributedOptimizer> sharded_optimizer(const std::string& rule,
                                                        const std::string& exchange,
                                                        const std::string& modifier = "",
                                                        Network (*network)() = small_network) {
  auto local = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers().at(rule).make(make_executor(network()), "loss"));
  REQUIRE(local);
  if (modifier == "clip_norm") local->add(step_modifiers().at(modifier).make({{"most", 0.1}}));
  if (modifier == "loss_scale") local->add(step_modifiers().at(modifier).make({{"initial", 4}}));
  return distributed_optimizers()
      .at("consistent_decentralized")
      .make(std::move(local), world(),
            Settings{{"all_reduce", "ring"},
                     {"exchange", exchange},
                     {"bucket_bytes", network == small_network ? 20000 : 64}});
}

/// This rank's samples of step `step`.
Batch batch_of(int step) {
  RandomStream random(17, static_cast<std::uint32_t>(100 * step + world()->rank()));
  Tensor image = Tensor::empty(DType::float32, {2, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {2});
  for (auto& pixel : image.span<float>()) pixel = random.uniform();
  for (auto& value : label.span<std::int64_t>())
    value = static_cast<std::int64_t>(random.below(10));
  Batch batch;
  batch.values["image"] = image;
  batch.values["label"] = label;
  batch.size = 2;
  batch.global_size = 2 * world()->size();
  return batch;
}

/// The largest difference of a parameter relative to the largest parameter.
double largest_difference(Network& a, Network& b) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    const auto x = a.parameters()[i].value.span<float>(), y = b.parameters()[i].value.span<float>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      worst = std::max(worst, double(std::abs(x[k] - y[k])));
      largest = std::max(largest, double(std::abs(y[k])));
    }
  }
  return worst / largest;
}

bool same_on_all_ranks(Network& network) {
  for (const Parameter& parameter : network.parameters()) {
    Tensor first = parameter.value.copy();
    world()->broadcast(first, 0);
    if (std::memcmp(first.raw(), parameter.value.raw(), first.bytes()) != 0) return false;
  }
  return true;
}

bool takes_all_for_one(const std::string& rule) {
  return rule == "lbfgs" || rule == "stochastic_lbfgs";
}

}  // namespace

TEST_CASE("sharded equals dense for every rule, and each rank remembers its shard alone") {
  for (const auto& [rule, entry] : optimizers().entries()) {
    if (rule == "users_own" || takes_all_for_one(rule)) continue;
    INFO(rule);
    const auto sharded = sharded_optimizer(rule, "sharded"),
               dense = sharded_optimizer(rule, "dense");
    for (int step = 0; step < 3; ++step) {
      sharded->step(batch_of(step));
      dense->step(batch_of(step));
    }
    Network& network = sharded->executor().network();
    CHECK(same_on_all_ranks(network));
    // Sums over two ranks have the same bits in any order. Over more ranks the order differs: by
    // some 2^-24 of a gradient, which rules that divide by its size (Adam) make as much of a step
    // where it is near to zero, and Rprop, Lion and sign methods a whole step of.
    const double found = largest_difference(network, dense->executor().network());
    if (world()->size() <= 2) {
      CHECK(found == 0);
    } else {
      CHECK(found < 3 * 0.03);  // three steps
    }
    std::int64_t kept = 0, all = 0;
    for (const auto& [name, value] : sharded->state()) kept += value.tensor().elements();
    for (const auto& [name, value] : dense->state()) all += value.tensor().elements();
    Tensor sum = Tensor::scalar(kept);
    world()->all_reduce(sum);
    // State of the step, not of a parameter, is on each rank: at most two numbers per parameter.
    CHECK(sum.item<std::int64_t>() <= all + 24 * world()->size());
  }
}

TEST_CASE("sharded has dense's bits on any number of ranks if sums are exact") {
  if (world()->size() == 3) return;  // a share of 1/3 rounds
  for (const auto& [rule, entry] : optimizers().entries()) {
    if (rule == "users_own" || takes_all_for_one(rule)) continue;
    INFO(rule);
    const auto sharded = sharded_optimizer(rule, "sharded", "", exact_network);
    const auto dense = sharded_optimizer(rule, "dense", "", exact_network);
    Batch batch;
    Tensor x = Tensor::empty(DType::float32, {2, 4});
    for (std::int64_t i = 0; i < 8; ++i) x.data<float>()[i] = float((i + world()->rank()) % 3 - 1);
    batch.values["x"] = x;
    batch.size = 2;
    sharded->step(batch);
    dense->step(batch);
    CHECK(largest_difference(sharded->executor().network(), dense->executor().network()) == 0);
    CHECK(largest_difference(sharded->executor().network(),
                             *std::make_unique<Network>(exact_network())) > 0);
  }
}

TEST_CASE("reading all gradients gives all, with shards too") {
  for (const std::string modifier : {"clip_norm", "loss_scale"}) {
    INFO(modifier);
    const auto sharded = sharded_optimizer("momentum", "sharded", modifier);
    const auto dense = sharded_optimizer("momentum", "dense", modifier);
    for (int step = 0; step < 4; ++step) {
      sharded->step(batch_of(step));
      dense->step(batch_of(step));
    }
    CHECK(same_on_all_ranks(sharded->executor().network()));
    // Sums in another order, in float32, over 4 steps of rate 0.01.
    CHECK(largest_difference(sharded->executor().network(), dense->executor().network()) < 1e-6);
  }
}

TEST_CASE("a step with shards moves no more bytes than a ring all-reduce, and padding") {
  if (world()->size() == 1) return;
  const auto sharded = sharded_optimizer("momentum", "sharded");
  const Batch batch = batch_of(0);
  const Traffic before = world()->traffic();
  sharded->step(batch);
  const Traffic step = world()->traffic().since(before);
  const auto& sent = step.by_call;
  CHECK(sent.at("reduce_scatter").calls == sent.at("all_gather").calls);
  // A rank sends the others' shards, then its own to each. LeNet has 61,706 parameters.
  std::int64_t bytes = 0;  // by all ranks
  for (const Traffic& of_rank : gather_traffic(*world(), step)) {
    for (const char* call : {"reduce_scatter", "all_gather"}) {
      bytes += of_rank.by_call.at(call).bytes_sent;
    }
  }
  const std::int64_t others = world()->size() - 1;
  CHECK(bytes >= 2 * others * 61706 * 4);
  CHECK(bytes <= 2 * others * (61706 * 4 + 10 * 60 * world()->size()));
}

TEST_CASE("a checkpoint of shards resumes to the same bits") {
  const auto whole = sharded_optimizer("adam", "sharded"),
             first = sharded_optimizer("adam", "sharded");
  for (int step = 0; step < 4; ++step) whole->step(batch_of(step));
  for (int step = 0; step < 2; ++step) first->step(batch_of(step));
  const auto second = sharded_optimizer("adam", "sharded");
  second->restore(first->state());
  for (std::size_t i = 0; i < first->executor().network().parameters().size(); ++i) {
    second->executor().network().parameters()[i].value.copy_from(
        first->executor().network().parameters()[i].value);
  }
  for (int step = 2; step < 4; ++step) second->step(batch_of(step));
  CHECK(largest_difference(second->executor().network(), whole->executor().network()) == 0);
}

TEST_CASE("shards are whole tensors, cover all, and are balanced by bytes") {
  // 64 tensors of 1 to 64 KiB in one arena.
  Network network("many");
  for (int i = 0; i < 64; ++i) {
    network.add_parameter("p" + std::to_string(i),
                          Tensor::zeros(DType::float32, {256 * (1 + i * 7 % 64)}));
  }
  const auto& parameters = network.parameters();
  for (const std::size_t least : {std::size_t{1}, std::size_t{100'000}, std::size_t{1} << 30}) {
    const auto buckets = cut_into_buckets(parameters, {.least = least});
    for (const int ranks : {1, 2, 3, 4, 7}) {
      const auto shares = detail::share_parameters(parameters, buckets, ranks);
      std::vector<double> bytes(static_cast<std::size_t>(ranks));
      double all = 0;
      for (const auto& bucket : buckets) {
        std::size_t next = bucket.begin;
        for (int r = 0; r < ranks; ++r) {
          const ParameterRange& own = shares[bucket.index][static_cast<std::size_t>(r)];
          CHECK(own.begin == next);
          next = own.end;
          for (std::size_t p = own.begin; p < own.end; ++p) {
            bytes[static_cast<std::size_t>(r)] += double(parameters[p].gradient.bytes());
            all += double(parameters[p].gradient.bytes());
          }
        }
        CHECK(next == bucket.end);
      }
      // Within one of the largest tensors of the fair share.
      for (const double of : bytes) CHECK(std::abs(of - all / ranks) <= 2 * 65536);
    }
  }
}

TEST_CASE("an optimizer to which all parameters are one cannot have shards, and says so") {
  if (world()->size() == 1) return;
  CHECK_THROWS_WITH(sharded_optimizer("lbfgs", "sharded"),
                    Catch::Contains("lbfgs") && Catch::Contains("dense"));
}
