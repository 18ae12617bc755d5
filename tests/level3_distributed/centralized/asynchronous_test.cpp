// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <sstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "tests/level3_distributed/centralized/served.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

int ranks() { return world()->size(); }
int mine() { return world()->rank(); }

/// loss = mean of x W over the batch; W has one number for each of `kPlaces` workers. The gradient
/// of samples that are the unit vector e(w) is e(w) for any W.
constexpr std::int64_t kPlaces = 4;
Network counting_network() {
  Network network("counting");
  network.add_input("x", DType::float32, {"N", kPlaces});
  network.add_parameter("w", Tensor::zeros(DType::float32, {kPlaces, 1}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_node("ReduceMean", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

Batch unit_batch(int worker, int workers) {
  Batch batch;
  Tensor x = Tensor::zeros(DType::float32, {1, kPlaces});
  x.data<float>()[worker] = 1;
  batch.values["x"] = x;
  batch.size = 1;
  batch.global_size = workers;
  return batch;
}

/// The number of each worker's steps in the parameters, if one step changes them by `step`.
std::vector<int> counts(Network& network, double step) {
  std::vector<int> result;
  for (const float value : network.parameters()[0].value.span<float>()) {
    result.push_back(int(std::lround(-value / step)));
  }
  return result;
}

std::string shared_path(const std::string& path) {
  std::string text = path;
  text.resize(1024);
  Tensor bytes = Tensor::empty(DType::uint8, {1024});
  std::ranges::copy(text, static_cast<char*>(bytes.raw()));
  world()->broadcast(bytes, 0);
  return static_cast<const char*>(bytes.raw());
}

}  // namespace

TEST_CASE("one worker of a server that applies at once trains as one rank does, to the bit") {
  if (ranks() != 2) return;
  for (const std::string rule : {"sgd", "momentum", "adam", "accelegrad", "schedule_free_sgd"}) {
    for (const std::string modifier : {"", "clip_norm", "ema", "accumulate"}) {
      INFO(rule << " " << modifier);
      const auto scheme = scheme_of("inconsistent_centralized", {}, rule_of(rule, modifier));
      drive(*scheme, mine() == 0, [&] {
        const auto alone = rule_of(rule, modifier);
        for (int step = 0; step < 4; ++step) {
          (void)scheme->step(batch_of(step, 0, 1));
          (void)alone->step(batch_of(step, 0, 1));
        }
        CHECK(values_of(scheme->executor().network()) == values_of(alone->executor().network()));
        scheme->begin_test();
        alone->begin_test();
        CHECK(values_of(scheme->executor().network()) == values_of(alone->executor().network()));
        scheme->end_test();
        alone->end_test();
      });
    }
  }
}

TEST_CASE("gradients applied again in the order of their arrival give the same bits") {
  if (ranks() == 1) return;
  std::optional<testing::TemporaryFolder> folder;
  if (mine() == 0) folder.emplace();
  const std::string log = shared_path(folder ? (folder->path() / "arrivals").string() : "");
  const int workers = ranks() - 1;
  constexpr int kSteps = 6;
  const auto scheme =
      scheme_of("inconsistent_centralized", {{"arrivals", log}}, rule_of("momentum", "clip_norm"));
  drive(*scheme, mine() < workers, [&] {
    for (int step = 0; step < kSteps; ++step) (void)scheme->step(batch_of(step, mine(), workers));
  });
  world()->barrier();
  if (mine() == 0) {
    // Sequential reference: each worker's gradient is at the parameters that it received last.
    const auto server = rule_of("momentum", "clip_norm");
    Network& network = server->executor().network();
    std::map<int, std::vector<float>> read;
    for (int worker = 0; worker < workers; ++worker) read[worker] = values_of(network);
    const auto put = [&](const std::vector<float>& values) {
      std::ranges::copy(values, network.parameter_arena().data<float>());
    };
    std::istringstream lines(read_file(log));
    int worker = 0, step = 0, arrivals = 0;
    while (lines >> worker >> step) {
      const auto newest = values_of(network);
      put(read.at(worker));
      const Batch batch = batch_of(step, worker, workers);
      (void)server->gradients().run(batch);
      server->gradients().finish_all();
      put(newest);
      server->begin_step(batch);
      REQUIRE(server->begin_updates());
      for (std::size_t i = 0; i < network.parameters().size(); ++i) server->update(i);
      server->end_step();
      read[worker] = values_of(network);
      ++arrivals;
    }
    CHECK(arrivals == kSteps * workers);
    CHECK(values_of(network) == values_of(scheme->executor().network()));
  }
  world()->barrier();
}

TEST_CASE("every gradient is applied once, and all end with the server's parameters") {
  if (ranks() == 1) return;
  for (const int servers : {1, 2}) {
    const int workers = ranks() - servers;
    if (workers < 1) continue;
    constexpr int kSteps = 20;
    const auto scheme = scheme_of("inconsistent_centralized", {{"servers", servers}},
                                  rule_of("sgd", "", {{"learning_rate", 0.5}}, counting_network));
    drive(*scheme, mine() < workers, [&] {
      for (int step = 0; step < kSteps; ++step) (void)scheme->step(unit_batch(mine(), workers));
      // A test run in between sees everything sent so far.
      scheme->begin_test();
      const auto seen = counts(scheme->executor().network(), 0.5);
      for (int worker = 0; worker < workers; ++worker) CHECK(seen[std::size_t(worker)] == kSteps);
      scheme->end_test();
      (void)scheme->state();
      (void)scheme->step(unit_batch(mine(), workers));
    });
    if (mine() >= workers) continue;
    const auto all = counts(scheme->executor().network(), 0.5);
    for (int worker = 0; worker < workers; ++worker) CHECK(all[std::size_t(worker)] == kSteps + 1);
    CHECK(scheme->conditions().contains("staleness.mean"));
  }
}

TEST_CASE("a worker's step moves its gradient, or change, up and the parameters down") {
  if (ranks() == 1) return;
  const int workers = ranks() - 1;
  for (const std::string scheme_name : {"inconsistent_centralized", "stale_synchronous"}) {
    const auto scheme = scheme_of(scheme_name, {}, rule_of("sgd", "", {}, counting_network));
    const Traffic before = world()->traffic();
    drive(*scheme, mine() < workers, [&] {
      (void)scheme->step(unit_batch(mine(), workers));
      const auto by_call = world()->traffic().since(before).by_call;
      CHECK(by_call.at("send").bytes_sent == kPlaces * 4 + detail::ServerMessage::kBytes);
      CHECK(by_call.at("receive").bytes_received == kPlaces * 4 + detail::ServerMessage::kBytes);
    });
  }
}

TEST_CASE("a stale gradient is slowed down by its staleness") {
  if (ranks() != 3) return;
  // Worker 1 reads, worker 0 makes three steps, then worker 1's gradient comes: three steps late.
  const auto scheme = scheme_of("inconsistent_centralized", {{"staleness_rate", "inverse"}},
                                rule_of("sgd", "", {{"learning_rate", 0.75}}, counting_network));
  const auto workers = world()->split(mine() < 2 ? 0 : -1);
  drive(*scheme, mine() < 2, [&] {
    for (int step = 0; step < 3 && mine() == 0; ++step) (void)scheme->step(unit_batch(0, 2));
    workers->barrier();
    if (mine() == 1) (void)scheme->step(unit_batch(1, 2));
  });
  if (mine() == 2) return;
  const auto values = scheme->executor().network().parameters()[0].value.span<float>();
  CHECK(values[0] == -3 * 0.75f);
  CHECK(values[1] == -0.25f);
  CHECK(scheme->conditions().at("staleness.histogram") == "0:3 3:1");
}

TEST_CASE("what cannot be applied gradient by gradient is refused on every rank") {
  if (ranks() < 2) {
    CHECK_THROWS_AS(scheme_of("inconsistent_centralized", {}, rule_of("sgd")), ValueError);
    CHECK_THROWS_AS(scheme_of("stale_synchronous", {}, rule_of("sgd")), ValueError);
    return;
  }
  CHECK_THROWS_AS(scheme_of("inconsistent_centralized", {}, rule_of("lbfgs")), Unsupported);
  CHECK_THROWS_AS(
      scheme_of("inconsistent_centralized", {{"staleness_rate", "inverse"}}, rule_of("accelegrad")),
      Unsupported);
  CHECK_THROWS_AS(scheme_of("inconsistent_centralized", {{"servers", ranks()}}, rule_of("sgd")),
                  ValueError);
  CHECK_THROWS_AS(scheme_of("stale_synchronous", {{"staleness", -1}}, rule_of("sgd")), ValueError);
  if (ranks() == 2) return;
  CHECK_THROWS_WITH(
      scheme_of("inconsistent_centralized", {{"servers", 2}}, rule_of("sgd", "clip_norm")),
      Catch::Contains("clip_norm"));
}

TEST_CASE("no worker reads parameters that lack more than the slowest's last steps") {
  if (ranks() < 3) return;
  for (const int servers : {1, 2}) {
    for (const int staleness : {0, 1, 3}) {
      const int workers = ranks() - servers;
      if (workers < 2) continue;
      INFO(servers << " servers, staleness " << staleness);
      constexpr int kSteps = 12;
      const auto scheme =
          scheme_of("stale_synchronous", {{"staleness", staleness}, {"servers", servers}},
                    rule_of("sgd", "", {{"learning_rate", 1}}, counting_network));
      int most_ahead = 0;
      const auto group = world()->split(mine() < workers ? 0 : -1);
      drive(*scheme, mine() < workers, [&] {
        if (mine() == 0) group->barrier();  // until the others have reached the bound
        for (int clock = 1; clock <= kSteps; ++clock) {
          if (mine() > 0 && clock == staleness + 1) group->barrier();
          (void)scheme->step(unit_batch(mine(), workers));
          const auto read = counts(scheme->executor().network(), 1.0 / workers);
          for (int worker = 0; worker < workers; ++worker) {
            CHECK(read[std::size_t(worker)] >= clock - staleness);
            most_ahead = std::max(most_ahead, clock - read[std::size_t(worker)]);
          }
          CHECK(read[std::size_t(mine())] == clock);  // its own
        }
      });
      if (mine() >= workers) continue;
      const auto all = counts(scheme->executor().network(), 1.0 / workers);
      for (int worker = 0; worker < workers; ++worker) CHECK(all[std::size_t(worker)] == kSteps);
      // The bound is used.
      if (mine() > 0) CHECK(most_ahead == staleness);
    }
  }
}

TEST_CASE("workers that may not be ahead at all give what a synchronous server gives") {
  if (ranks() == 1) return;
  const int workers = ranks() - 1;
  for (const std::string rule : {"sgd", "momentum"}) {
    INFO(rule);
    const auto stale = scheme_of("stale_synchronous", {{"staleness", 0}}, rule_of(rule));
    const auto synchronous =
        scheme_of("consistent_centralized", {{"server", "serves"}}, rule_of(rule));
    for (const auto& scheme : {stale, synchronous}) {
      drive(*scheme, mine() < workers, [&] {
        for (int step = 0; step < 4; ++step) (void)scheme->step(batch_of(step, mine(), workers));
      });
    }
    if (mine() == workers) continue;
    // A change is a difference of parameters: it is off by 2^-24 of these, for each worker and
    // step, and so is each sum.
    CHECK(difference(values_of(stale->executor().network()),
                     values_of(synchronous->executor().network())) <=
          2.0 * 4 * workers / (1 << 24));
  }
}

TEST_CASE("ranks that train one memory of their node without locks keep all but what collides") {
  constexpr int kSteps = 50;
  const auto scheme =
      scheme_of("hogwild", {}, rule_of("sgd", "", {{"learning_rate", 1}}, counting_network));
  for (int step = 0; step < kSteps; ++step) (void)scheme->step(unit_batch(mine(), ranks()));
  scheme->begin_test();
  const auto all = counts(scheme->executor().network(), 1);
  // Each rank changes only its own element, so no additions collide.
  for (int rank = 0; rank < ranks(); ++rank) CHECK(all[std::size_t(rank)] == kSteps);
  CHECK(same_on(*world(), values_of(scheme->executor().network())));
  scheme->end_test();
}

TEST_CASE("ranks of several nodes share no memory to train in, and are all told so") {
  if (ranks() == 1) return;
  // Ranks with a modelled wire act as ranks of separate nodes.
  const auto apart = std::make_shared<WireModel>(world(), WireOptions{.bytes_per_second = 1e12});
  CHECK_THROWS_AS(scheme_of("hogwild", {}, rule_of("sgd"), apart), Unsupported);
  CHECK_THROWS_WITH(scheme_of("hogwild", {}, rule_of("sgd"), apart),
                    Catch::Contains("leave these out (wire, fault), or choose stale_synchronous"));
  world()->barrier();
}

TEST_CASE("a step of one memory reads and writes the parameters once") {
  const auto scheme =
      scheme_of("hogwild", {}, rule_of("sgd", "", {{"learning_rate", 1}}, counting_network));
  const Traffic before = world()->traffic();
  (void)scheme->step(unit_batch(mine(), ranks()));
  const auto by_call = world()->traffic().since(before).by_call;
  CHECK(by_call.at("get").bytes_received == kPlaces * 4);
  CHECK(by_call.at("put").bytes_sent == kPlaces * 4);
  world()->barrier();
}

TEST_CASE("one rank of one memory trains as one alone, but for the rounding of a difference") {
  if (ranks() != 1) return;
  for (const std::string rule : {"sgd", "adam"}) {
    const auto scheme = scheme_of("hogwild", {}, rule_of(rule));
    const auto alone = rule_of(rule);
    for (int step = 0; step < 4; ++step) {
      (void)scheme->step(batch_of(step, 0, 1));
      (void)alone->step(batch_of(step, 0, 1));
    }
    scheme->begin_test();
    // Adam's step is 0.001 whatever the gradient's size, and may turn where that is near to zero.
    const double bound = rule == "adam" ? 4 * 2 * 0.001 / 0.2 : 2.0 * 4 / (1 << 24);
    CHECK(difference(values_of(scheme->executor().network()),
                     values_of(alone->executor().network())) <= bound);
    scheme->end_test();
  }
}
