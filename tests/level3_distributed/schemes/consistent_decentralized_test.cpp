// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/samples/distributed_sampler.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

using namespace d5;

namespace {

/// w <- w - rate * gradient: the simplest rule, so that this test needs no other code's.
class PlainDescent final : public UpdateRuleOptimizer {
 public:
  PlainDescent(Network network, double rate)
      : UpdateRuleOptimizer(make_executor(std::move(network)), "loss"), rate_(rate) {}
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    dispatch(RealTypes{}, gradient.dtype(), "PlainDescent", [&]<class T>() {
      for (std::int64_t i = 0; i < gradient.elements(); ++i) {
        parameter.value.data<T>()[i] -= static_cast<T>(rate_) * gradient.data<T>()[i];
      }
    });
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 private:
  double rate_;
};

std::shared_ptr<DistributedOptimizer> distributed(Network network, double rate,
                                                  const std::string& all_reduce = "mpi",
                                                  const std::string& bucket_bytes = "4194304") {
  return distributed_optimizers()
      .at("consistent_decentralized")
      .make(std::make_shared<PlainDescent>(std::move(network), rate), world(),
            Settings("test", {{"all_reduce", all_reduce}, {"bucket_bytes", bucket_bytes}}));
}

/// loss = mean over the batch of (a x + b - t)^2.
Network line(double a, double b) {
  Network network("line");
  network.add_input("x", DType::float64, {"N", 1});
  network.add_input("t", DType::float64, {"N", 1});
  network.add_parameter("a", Tensor::of<double>({1, 1}, {a}));
  network.add_parameter("b", Tensor::of<double>({1}, {b}));
  network.add_node("Gemm", {"x", "a", "b"}, {"y"});
  network.add_node("Sub", {"y", "t"}, {"d"});
  network.add_node("Mul", {"d", "d"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

std::shared_ptr<TensorDataset> line_data(const std::vector<double>& x,
                                         const std::vector<double>& t) {
  const auto n = static_cast<std::int64_t>(x.size());
  return std::make_shared<TensorDataset>(
      "line", std::vector<std::pair<std::string, Tensor>>{{"x", Tensor::of<double>({n, 1}, x)},
                                                          {"t", Tensor::of<double>({n, 1}, t)}});
}

/// Images and labels that LeNet can learn a little from.
std::shared_ptr<TensorDataset> images(std::int64_t n) {
  RandomStream random(11);
  Tensor image = Tensor::empty(DType::float32, {n, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {n});
  for (auto& pixel : image.span<float>()) pixel = random.uniform();
  for (auto& value : label.span<std::int64_t>())
    value = static_cast<std::int64_t>(random.below(10));
  return std::make_shared<TensorDataset>(
      "noise", std::vector<std::pair<std::string, Tensor>>{{"image", image}, {"label", label}});
}

bool same_parameters_on_all_ranks(Network& network) {
  for (const Parameter& parameter : network.parameters()) {
    const auto bytes = static_cast<std::int64_t>(parameter.value.bytes());
    Tensor all = Tensor::empty(DType::uint8, {world()->size() * bytes});
    const TensorDesc desc{DType::uint8, {bytes}};
    world()->all_gather(parameter.value.view(0, desc), all);
    for (int r = 0; r < world()->size(); ++r) {
      if (std::memcmp(all.data<std::uint8_t>() + r * bytes, parameter.value.raw(),
                      parameter.value.bytes()) != 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("one step over all ranks is the step that a person computes") {
  // Rank r has the sample x = r + 1, t = 0, and a = 2, b = 1. For e = a x + b - t the gradients are
  // the means of 2 e x and 2 e over all ranks.
  const int n = world()->size();
  double da = 0, db = 0;
  for (int r = 0; r < n; ++r) {
    const double x = r + 1, e = 2 * x + 1;
    da += 2 * e * x / n;
    db += 2 * e / n;
  }
  const auto optimizer = distributed(line(2, 1), 0.5);
  const double x = world()->rank() + 1;
  Batch batch;
  batch.values["x"] = Tensor::of<double>({1, 1}, {x});
  batch.values["t"] = Tensor::of<double>({1, 1}, {0.0});
  batch.size = 1;
  optimizer->step(batch);
  Network& network = optimizer->executor().network();
  CHECK(network.parameter("a").value.item<double>() == Approx(2 - 0.5 * da).epsilon(1e-14));
  CHECK(network.parameter("b").value.item<double>() == Approx(1 - 0.5 * db).epsilon(1e-14));
}

TEST_CASE("all ranks begin with rank 0's parameters") {
  const auto optimizer = distributed(line(10 + world()->rank(), world()->rank()), 0.1);
  Network& network = optimizer->executor().network();
  CHECK(network.parameter("a").value.item<double>() == 10);
  CHECK(network.parameter("b").value.item<double>() == 0);
}

TEST_CASE("n ranks with batch B equal one rank with batch nB, short last batch included") {
  const int n = world()->size();
  // 46 samples in global batches of 12: three whole ones and 10, which 3 and 4 ranks cannot share
  // evenly.
  std::vector<double> x(46), t(46);
  RandomStream random(3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = random.normal_double();
    t[i] = 3 * x[i] - 1 + 0.1 * random.normal_double();
  }
  const auto data = line_data(x, t);
  for (const auto& [all_reduce, entry] : all_reduces().entries()) {
    INFO(all_reduce);
    const auto optimizer = distributed(line(0, 0), 0.1, all_reduce, "1");
    const auto mine = distributed_sampler(
        data, samplers().at("shuffle"), {{"batch_size", 12 / n}, {"seed", 1}}, world()->rank(), n);
    PlainDescent sequential(line(0, 0), 0.1);
    const auto whole = samplers().at("shuffle").make(data, {{"batch_size", 12}, {"seed", 1}});
    for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
      mine->reset(epoch);
      whole->reset(epoch);
      while (const Batch* batch = whole->next()) {
        sequential.step(*batch);
        const Batch* part = mine->next();
        REQUIRE(part);
        optimizer->step(*part);
      }
    }
    Network& network = optimizer->executor().network();
    // 20 steps in float64; each rounds a few times by 2^-53.
    for (const char* name : {"a", "b"}) {
      CHECK(network.parameter(name).value.item<double>() ==
            Approx(sequential.executor().network().parameter(name).value.item<double>())
                .epsilon(1e-13));
    }
    CHECK(network.parameter("a").value.item<double>() == Approx(3).margin(0.3));  // it learns
    CHECK(same_parameters_on_all_ranks(network));
  }
}

TEST_CASE("LeNet on n ranks equals LeNet on one, and the ranks equal each other to the bit") {
  const int n = world()->size();
  const auto data = images(48);
  const auto lenet = [] { return models().at("lenet").make({{"seed", 4}, {"with_loss", true}}); };
  // Small buckets, so that several are under way at once.
  const auto optimizer = distributed(lenet(), 0.05, "ring", "65536");
  const auto mine = distributed_sampler(data, samplers().at("shuffle"),
                                        {{"batch_size", 12 / n}, {"seed", 2}}, world()->rank(), n);
  PlainDescent sequential(lenet(), 0.05);
  const auto whole = samplers().at("shuffle").make(data, {{"batch_size", 12}, {"seed", 2}});
  while (const Batch* batch = whole->next()) {
    sequential.step(*batch);
    optimizer->step(*mine->next());
  }
  Network& network = optimizer->executor().network();
  CHECK(same_parameters_on_all_ranks(network));
  double worst = 0;
  for (const Parameter& parameter : network.parameters()) {
    const Tensor& expected = sequential.executor().network().parameter(parameter.name).value;
    for (std::int64_t i = 0; i < expected.elements(); ++i) {
      const double difference = parameter.value.data<float>()[i] - expected.data<float>()[i];
      worst = std::max(worst, std::abs(difference));
    }
  }
  // Weights are below 1; 4 steps of rate 0.05 whose gradients round differently by some 2^-24.
  CHECK(worst < 1e-6);
}

TEST_CASE("communication begins while backpropagation still runs") {
  struct Recorder : CommunicationEvent, ExecutionEvent {
    std::vector<std::string> seen;
    void before_call(const CommunicationInfo& call) override { seen.emplace_back(call.call); }
    void gradient_ready(Parameter& parameter, std::size_t, Stream&) override {
      seen.push_back("gradient of " + parameter.name);
    }
  };
  const auto recorder = std::make_shared<Recorder>();
  const auto optimizer =
      distributed(models().at("lenet").make({{"with_loss", true}}), 0.1, "mpi", "1");
  const std::size_t parameters = optimizer->executor().network().parameters().size();
  optimizer->executor().events().add(recorder);
  world()->events().add(recorder);
  const auto sampler = samplers().at("ordered").make(images(2), {{"batch_size", 2}});
  optimizer->step(*sampler->next());
  world()->events().remove(recorder.get());

  const auto& seen = recorder->seen;
  CHECK(std::ranges::count(seen, "all_reduce") == static_cast<std::ptrdiff_t>(parameters));
  const auto first_sent = std::ranges::find(seen, "all_reduce");
  const auto last_gradient = std::find_if(seen.rbegin(), seen.rend(), [](const std::string& entry) {
    return entry.starts_with("gradient of");
  });
  CHECK(first_sent < last_gradient.base());
}

TEST_CASE("a step sends the gradient arena once") {
  const auto optimizer =
      distributed(models().at("lenet").make({{"with_loss", true}}), 0.1, "mpi", "100000");
  const auto sampler = samplers().at("ordered").make(images(2), {{"batch_size", 2}});
  const Batch* batch = sampler->next();
  const Traffic before = world()->traffic();
  optimizer->step(*batch);
  const auto sent = world()->traffic().since(before);
  // LeNet has 61,706 parameters of 4 bytes. Padding within a bucket travels along: at most 60 bytes
  // after each of 10 parameters.
  const auto bytes = sent.total().bytes_sent;
  const int n = world()->size();
  CHECK(bytes + sent.total().calls >= Traffic::of_all_reduce(61706 * 4, n));  // each rounded down
  CHECK(bytes <= Traffic::of_all_reduce(61706 * 4 + 10 * 60, n));
  CHECK(sent.by_call.size() == 1);
}

TEST_CASE("a run outside of a step sends nothing") {
  const auto optimizer = distributed(line(1, 1), 0.1);
  const Traffic before = world()->traffic();
  optimizer->executor().inference_and_backprop(
      {{"x", Tensor::of<double>({1, 1}, {1.0})}, {"t", Tensor::of<double>({1, 1}, {1.0})}}, "loss");
  CHECK(world()->traffic().by_call == before.by_call);
}

TEST_CASE("a bad setting is refused on every rank") {
  CHECK_THROWS_AS(distributed(line(1, 1), 0.1, "rong"), NotFound);
  CHECK_THROWS_AS(distributed(line(1, 1), 0.1, "ring", "0"), ValueError);
  CHECK_THROWS_AS(distributed(line(1, 1), 0.1, "ring", "many"), ValueError);
}

TEST_CASE("a misspelt setting of the scheme, or of its all-reduce, is refused with the nearest") {
  const auto make = [](const Settings& settings) {
    return distributed_optimizers()
        .at("consistent_decentralized")
        .make(std::make_shared<PlainDescent>(line(1, 0), 0.1), world(), settings);
  };
  CHECK_THROWS_WITH(make({{"bucket_byte", 1}}), Catch::Contains("did you mean bucket_bytes?"));
  CHECK_THROWS_AS(make({{"bucket_bytes", 0}}), ValueError);
  CHECK_THROWS_WITH(make({{"all_reduce", "rings"}}), Catch::Contains("did you mean ring?"));
  CHECK_THROWS_WITH(make({{"all_reduce.name", "ring"}, {"all_reduce.parts", 2}}),
                    Catch::Contains("all_reduce: option 'parts' is unknown"));
  CHECK_NOTHROW(make({{"all_reduce.name", "ring"}}));
}
