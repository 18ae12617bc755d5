// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "tests/level3_distributed/compressors/trained_lenet.hpp"

using namespace d5;
using namespace d5::test;

namespace {

const Settings kDense{{"all_reduce", "ring"}};
const Settings kOneBit{{"exchange.name", "one_bit_adam"}, {"all_reduce", "ring"}};
constexpr double kRate = 0.002;

std::shared_ptr<DistributedOptimizer> adam_with(const Settings& settings, int warm_up) {
  return lenet_with(settings, "65536", kRate, "frozen_adam",
                    {{"warm_up", warm_up}, {"epsilon", 1e-4}});
}

std::shared_ptr<DistributedOptimizer> plain_adam() {
  return lenet_with(kDense, "65536", kRate, "adam", {{"epsilon", 1e-4}});
}

std::vector<float> after(const std::shared_ptr<DistributedOptimizer>& optimizer, int steps) {
  (void)trained(*optimizer, steps);
  return parameters_of(*optimizer);
}

/// Elements of each rank's chunk.
std::vector<std::int64_t> chunks_of(std::int64_t size) {
  const int n = world()->size();
  std::vector<std::int64_t> chunks;
  for (int r = 0; r < n; ++r) chunks.push_back(size * (r + 1) / n - size * r / n);
  return chunks;
}

/// An exchange of one vector, step by step, without a network's gradients.
struct OneVector {
  explicit OneVector(std::int64_t size, double beta1 = 0.5) {
    Network network("one");
    network.add_parameter("w", Tensor::zeros(DType::float32, {size}));
    network.add_node("ReduceMean", {"w"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
    network.add_output("loss");
    optimizer = std::dynamic_pointer_cast<ThreeStepOptimizer>(
        optimizers()
            .at("frozen_adam")
            .make(make_executor(network), "loss", {{"warm_up", 1}, {"beta1", beta1}}));
    exchange =
        gradient_exchanges().at("one_bit_adam").make(world(), all_reduces().at("ring").make());
    exchange->attach(*optimizer);
    buckets = cut_into_buckets(optimizer->executor().network().parameters());
    exchange->lay_out(optimizer->executor().network(), buckets);
  }
  /// Every rank has these gradients.
  std::vector<float> step(const std::vector<float>& gradient) {
    optimizer->begin_step({});
    Tensor data = buckets.at(0).data;
    data.copy_from(Tensor::vector<float>(gradient));
    exchange->start(buckets[0], {.number = number++, .weight = 1.0 / world()->size()})->wait();
    const auto values = data.span<float>();
    return {values.begin(), values.end()};
  }
  std::shared_ptr<ThreeStepOptimizer> optimizer;
  std::shared_ptr<GradientExchange> exchange;
  std::vector<GradientBucket> buckets;
  std::int64_t number = 0;
};

}  // namespace

TEST_CASE("as long as it warms up, one_bit_adam gives the bits of adam with the dense exchange") {
  const auto given = after(adam_with(kOneBit, 6), 6);
  const bool as_dense = given == after(adam_with(kDense, 6), 6);
  CHECK(as_dense);
  const bool as_adam = given == after(plain_adam(), 6);
  CHECK(as_adam);
}

TEST_CASE("one_bit_adam that sends all elements trains as frozen_adam does with the dense one") {
  Settings all = kOneBit;
  all.set("exchange.compressor.name", "top_k");
  all.set("exchange.compressor.fraction", 1);
  const auto start = after(adam_with(kDense, 2), 0), expected = after(adam_with(kDense, 2), 6);
  // Momenta are off by roundings, 2^-24, of the largest of their past, which may be a thousand
  // times as large, in each of six steps: by 2^-11 of the longest way.
  CHECK(largest_difference(after(adam_with(all, 2), 6), expected) <
        0x1p-11 * largest_difference(expected, start));
  // The distance to be detected is some learning rates: Adam's, whose second moment is not frozen.
  CHECK(largest_difference(expected, after(plain_adam(), 6)) > kRate / 10);
}

TEST_CASE("ranks with one gradient get each chunk's mean magnitude, and the rest one step later") {
  // The servers' compression changes nothing if all ranks have the same gradient: C(C(x)) = C(x).
  OneVector one(12);
  const std::vector<float> first{4, -4, 8, -8, 4, 4, 2, -2, 4, -6, 4, 4},
      second{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12},
      third{-3, 1, -4, 1, -5, 9, -2, 6, -5, 3, -5, 8};
  CHECK(one.step(first) == first);
  std::vector<double> m, rest(12, 0);
  for (const float g : first) m.push_back(g / 2);
  for (const auto& gradient : {second, third}) {
    const std::vector<float> given = one.step(gradient);
    std::size_t begin = 0;
    for (const std::int64_t count : chunks_of(12)) {
      const std::size_t end = begin + static_cast<std::size_t>(count);
      double mean = 0;
      std::vector<double> x(12);
      for (std::size_t i = begin; i < end; ++i) {
        x[i] = m[i] / 2 + gradient[i] / 2 + rest[i];
        mean += std::abs(x[i]) / static_cast<double>(count);
      }
      for (std::size_t i = begin; i < end; ++i) {
        const double sent = x[i] < 0 ? -mean : mean;
        CHECK(given[i] == Approx((sent - m[i] / 2) / 0.5));  // float32 in place of float64
        rest[i] = x[i] - sent;
        m[i] = sent;
      }
      begin = end;
    }
  }
}

TEST_CASE("a step of one_bit_adam sends a bit an element to servers, and one back") {
  const std::int64_t size = 1003;
  OneVector one(size);
  const std::vector<float> gradient(static_cast<std::size_t>(size), 1);
  (void)one.step(gradient);
  const Traffic before = world()->traffic();
  (void)one.step(gradient);
  const auto sent = world()->traffic().since(before);
  const int n = world()->size();
  std::int64_t all = 0;  // to each other server its chunk, and of this one to each other rank
  for (int r = 0; r < n; ++r) {
    const std::int64_t bytes = 4 + (chunks_of(size)[static_cast<std::size_t>(r)] + 7) / 8;
    all += r == world()->rank() ? (n - 1) * bytes : bytes;
  }
  CHECK(sent.total().bytes_sent == (n == 1 ? 0 : all));
  CHECK(sent.by_call.size() == 2);
}

TEST_CASE("LeNet learns digits by one_bit_adam, with the same bits on all ranks") {
  const auto optimizer = adam_with(kOneBit, 8);
  const auto losses = trained(*optimizer, 8 * kBatches);
  CHECK(same_on_all_ranks(parameters_of(*optimizer)));
  // A guess of one in ten has the loss log(10) = 2.303; frozen_adam alone comes to 0.6 or so.
  CHECK(mean_of_all(losses.end() - kBatches, losses.end()) < 1.5);
}

TEST_CASE("one_bit_adam goes on from a checkpoint to the bit, within its warm-up and after it") {
  for (const int warm_up : {2, 6}) {
    CAPTURE(warm_up);
    const auto whole = adam_with(kOneBit, warm_up), cut = adam_with(kOneBit, warm_up),
               resumed = adam_with(kOneBit, warm_up);
    (void)trained(*whole, 2 * kBatches);
    (void)trained(*cut, kBatches);
    auto& network = cut->executor().network();
    for (Parameter& parameter : resumed->executor().network().parameters()) {
      parameter.value.copy_from(network.parameter(parameter.name).value);
    }
    resumed->restore(cut->state());
    (void)trained(*resumed, kBatches, 1);
    const bool same = parameters_of(*resumed) == parameters_of(*whole);
    CHECK(same);
  }
  const auto other =
      adam_with({{"exchange.name", "compressed"}, {"exchange.compressor.name", "scaled_sign"}}, 2);
  (void)trained(*other, 1);
  CHECK_THROWS_WITH(adam_with(kOneBit, 2)->restore(other->state()),
                    Catch::Contains("has no 'momentum/0'"));
}

TEST_CASE("one_bit_adam refuses optimizers, compressors and steps that it does not go with") {
  CHECK_THROWS_WITH(
      lenet_with(kOneBit, "65536", kRate, "adam"),
      Catch::Contains("no hyper-parameter 'warm_up'") && Catch::Contains("frozen_adam"));
  Settings low_rank = kOneBit;
  low_rank.set("exchange.compressor.name", "power_sgd");
  CHECK_THROWS_AS(adam_with(low_rank, 2), Unsupported);
  low_rank.set("exchange.compressor.name", "sign");
  CHECK_THROWS_AS(adam_with(low_rank, 2), Unsupported);
  const auto twice = adam_with(kOneBit, 2);
  twice->local().add(step_modifiers().at("sam").make({}));
  CHECK_THROWS_WITH(trained(*twice, 2), Catch::Contains("takes several gradients"));
}
