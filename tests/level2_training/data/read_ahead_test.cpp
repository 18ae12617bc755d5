// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/drawn_samples.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;
using Catch::Matchers::Contains;
using test::DrawnSamples;
using test::rest_of_epoch;
using test::words_of;

namespace {

std::shared_ptr<Sampler> sampler_of(const std::string& name, std::shared_ptr<const Dataset> data,
                                    int threads, std::int64_t batch_size = 6) {
  auto sampler =
      samplers().at(name).make(std::move(data), {{"batch_size", batch_size}, {"seed", 3}});
  sampler->read_ahead(threads);
  return sampler;
}

}  // namespace

TEST_CASE("batches do not depend on how many threads read them ahead") {
  for (const bool ragged : {false, true}) {
    const auto data = std::make_shared<DrawnSamples>(40, ragged);
    for (const auto& [name, entry] : samplers().entries()) {
      const auto plain = sampler_of(name, data, 0);
      for (const int threads : {1, 2, 4}) {
        CAPTURE(name, threads, ragged);
        const auto ahead = sampler_of(name, data, threads);
        for (const std::int64_t epoch : {0, 1, 5}) {
          plain->reset(epoch);
          ahead->reset(epoch);
          const auto expected = rest_of_epoch(*plain);
          CHECK(rest_of_epoch(*ahead) == expected);
          CHECK(ahead->next() == nullptr);
          ahead->seek(epoch, 2);
          CHECK(rest_of_epoch(*ahead) ==
                std::vector<std::string>(expected.begin() + 2, expected.end()));
        }
      }
    }
  }
}

TEST_CASE("whatever is asked while threads read ahead, the batches are those that next reads") {
  const auto data = std::make_shared<DrawnSamples>(50, true);
  auto plain = sampler_of("shuffle", data, 0), ahead = sampler_of("shuffle", data, 3);
  RandomStream random(7);
  for (int step = 0; step < 200; ++step) {
    const auto what = random.below(20);
    CAPTURE(step, what);
    if (what == 0) {
      const auto epoch = std::int64_t(random.below(3));
      plain->reset(epoch);
      ahead->reset(epoch);
    } else if (what == 1) {
      const auto epoch = std::int64_t(random.below(3));
      const auto index = std::int64_t(random.below(std::uint64_t(plain->batches()) + 1));
      plain->seek(epoch, index);
      ahead->seek(epoch, index);
    } else if (what == 2) {
      const int ranks = 1 + int(random.below(3)), rank = int(random.below(std::uint64_t(ranks)));
      plain->take_part(rank, ranks);
      ahead->take_part(rank, ranks);
      plain->take_batches(ranks - 1 - rank, ranks);
      ahead->take_batches(ranks - 1 - rank, ranks);
    } else if (what == 3) {
      ahead->read_ahead(int(random.below(4)));
    } else if (what == 4) {
      plain = sampler_of("shuffle", data, 0);
      ahead = sampler_of("shuffle", data, 3);  // the old one ends while it reads
    } else {
      const Batch *expected = plain->next(), *batch = ahead->next();
      REQUIRE((batch == nullptr) == (expected == nullptr));
      if (batch) REQUIRE(words_of(*batch) == words_of(*expected));
    }
  }
}

TEST_CASE("a batch stays as it is until the next is asked for") {
  const auto sampler = sampler_of("ordered", std::make_shared<DrawnSamples>(60), 4, 4);
  const Batch* batch = sampler->next();
  const std::string words = words_of(*batch);
  const auto stays = [&] {
    for (int i = 0; i < 3; ++i) std::this_thread::yield();
    CHECK(words_of(*batch) == words);
  };
  stays();
  sampler->seek(0, 7);
  stays();
  sampler->reset(1);
  stays();
  sampler->take_part(0, 2);
  stays();
}

TEST_CASE("at most two batches are read ahead of the one that was given") {
  const auto data = std::make_shared<DrawnSamples>(90);
  const auto sampler = sampler_of("ordered", data, 4, 3);
  for (std::int64_t index = 0; index < 30; ++index) {
    REQUIRE(sampler->next());
    std::this_thread::yield();
    CHECK(data->furthest < 3 * (index + 3));
  }
}

TEST_CASE("a broken sample fails the batch that it is in, again each time, and no other") {
  for (const bool ragged : {false, true}) {
    for (const int threads : {0, 1, 2, 4}) {
      CAPTURE(threads, ragged);
      const auto data = std::make_shared<DrawnSamples>(40, ragged);
      data->broken = {13, 14, 17, 22};
      const auto sampler = sampler_of("ordered", data, threads);
      CHECK(sampler->next()->index == 0);
      CHECK(sampler->next()->index == 1);
      // Among several errors, the first.
      CHECK_THROWS_WITH(sampler->next(), "drawn: sample 13");
      CHECK_THROWS_WITH(sampler->next(), "drawn: sample 13");
      data->broken = {22};
      CHECK(sampler->next()->index == 2);
      CHECK_THROWS_AS(sampler->next(), FormatError);
      sampler->seek(0, 4);
      CHECK(sampler->next()->samples[0] == 24);
    }
  }
}

TEST_CASE("an interrupt that ends reading ends next, and reading goes on when it is asked again") {
  const auto data = std::make_shared<DrawnSamples>(40);
  data->interrupted = true;
  const auto sampler = sampler_of("ordered", data, 2);
  CHECK_THROWS_AS(sampler->next(), Interrupted);
  data->interrupted = false;
  CHECK(sampler->next()->index == 0);
}

TEST_CASE("threads that cannot be are refused, as by a sampler that reads in its own way") {
  const auto sampler = sampler_of("ordered", std::make_shared<DrawnSamples>(4), 0);
  CHECK_THROWS_AS(sampler->read_ahead(-1), ValueError);
  CHECK_THROWS_AS(sampler->read_ahead(1025), ValueError);

  struct Own final : Sampler {
    const Batch* next() override { return nullptr; }
    void reset(std::int64_t) override {}
    void seek(std::int64_t, std::int64_t) override {}
    std::int64_t batches() const override { return 0; }
    SamplerLaw law() const override { return {}; }
    const Dataset& dataset() const override { return data; }
    DrawnSamples data{1};
  } own;
  CHECK_NOTHROW(own.read_ahead(0));
  CHECK_THROWS_AS(own.read_ahead(2), Unsupported);
}

TEST_CASE("the thread that reads may be the one that ends its sampler") {
  struct Held {
    std::shared_ptr<Sampler> sampler;
    std::promise<void> given, ended;
  };
  const auto held = std::make_shared<Held>();
  const auto data = std::make_shared<DrawnSamples>(40);
  data->while_reading = [held](std::int64_t sample) {
    if (sample < 12 || !held->sampler) return;
    held->given.get_future().wait();
    held->sampler.reset();
    held->ended.set_value();
  };
  held->sampler = sampler_of("ordered", data, 1);
  CHECK(held->sampler->next()->index == 0);
  held->given.set_value();
  held->ended.get_future().wait();
}

TEST_CASE("a data set that asks the sampler that reads it ahead is refused, and no call hangs") {
  const auto data = std::make_shared<DrawnSamples>(40);
  std::weak_ptr<Sampler> weak;
  const auto call = GENERATE(
      as<std::function<void(Sampler&)>>(), [](Sampler& sampler) { (void)sampler.next(); },
      [](Sampler& sampler) { sampler.seek(1, 0); });
  data->while_reading = [&](std::int64_t sample) {
    if (sample == 12) call(*weak.lock());
  };
  const auto sampler = sampler_of("ordered", data, 1);
  weak = sampler;
  CHECK(sampler->next()->index == 0);
  CHECK(sampler->next()->index == 1);
  CHECK_THROWS_WITH(sampler->next(), Contains("data set 'drawn': its read() asked for a batch"));
}

TEST_CASE("training that is interrupted while threads read ahead goes on where it was") {
  struct StopAt final : TrainingEvent {
    explicit StopAt(std::int64_t step) : step(step) {}
    void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
      if (trainer.step() == step) stop.request_stop();
    }
    std::int64_t step;
    std::stop_source stop;
  };
  const auto parameters_after = [](int threads, std::int64_t stop_at) {
    const auto optimizer = test::points_optimizer("momentum", {{"learning_rate", 0.1}});
    const auto train = sampler_of("shuffle", test::points(30), threads);
    Trainer trainer(*optimizer, *train, nullptr, {.epochs = 3});
    const auto stop = std::make_shared<StopAt>(stop_at);
    trainer.events().add(stop);
    trainer.run({.token = stop->stop.get_token()});
    CHECK(trainer.interrupted() == (stop_at > 0));
    trainer.run();
    CHECK(trainer.step() == 15);
    return test::parameters(*optimizer);
  };
  const auto expected = parameters_after(0, 0);
  for (const std::int64_t stop_at : {1, 5, 7}) CHECK(parameters_after(3, stop_at) == expected);
}
