// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communicator.hpp"
#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"

using namespace d5;
using Line = Traffic::Line;

namespace {

Tensor ranks_own(double factor = 1) {
  const float r = static_cast<float>(world()->rank() * factor);
  return Tensor::vector<float>({r, 10 * r, -r});
}

}  // namespace

TEST_CASE("the world is as large as the launcher says") {
  const char* launched = std::getenv("OMPI_COMM_WORLD_SIZE");
  CHECK(world()->size() == (launched ? std::atoi(launched) : 1));
  CHECK(world()->rank() >= 0);
  CHECK(world()->rank() < world()->size());
}

TEST_CASE("all-reduce sums, finds the largest and the smallest") {
  const int n = world()->size();
  const float ranks_summed = static_cast<float>(n * (n - 1) / 2), last = static_cast<float>(n - 1);
  Tensor sum = ranks_own(), largest = ranks_own(), smallest = ranks_own();
  world()->all_reduce(sum);
  world()->all_reduce(largest, Reduction::maximum);
  world()->all_reduce(smallest, Reduction::minimum);
  CHECK(sum.data<float>()[0] == ranks_summed);
  CHECK(sum.data<float>()[1] == 10 * ranks_summed);
  CHECK(sum.data<float>()[2] == -ranks_summed);
  CHECK(largest.data<float>()[1] == 10 * last);
  CHECK(largest.data<float>()[2] == 0);
  CHECK(smallest.data<float>()[1] == 0);
  CHECK(smallest.data<float>()[2] == -last);
}

TEST_CASE("all-reduce works for float64 and integers") {
  const int n = world()->size();
  Tensor real = Tensor::scalar(0.5), whole = Tensor::scalar<std::int64_t>(std::int64_t{1} << 40);
  world()->all_reduce(real);
  world()->all_reduce(whole);
  CHECK(real.item<double>() == 0.5 * n);
  CHECK(whole.item<std::int64_t>() == (std::int64_t{1} << 40) * n);
}

TEST_CASE("several started all-reduces end with the right sums in any order") {
  const int n = world()->size();
  std::vector<Tensor> data;
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 5; ++i) {
    data.push_back(Tensor::of<float>({2}, {float(i), 1}));
    requests.push_back(world()->start_all_reduce(data.back()));
  }
  while (!requests[4]->done()) {
  }
  for (auto& request : requests) request->wait();
  for (int i = 0; i < 5; ++i) {
    CHECK(data[i].data<float>()[0] == float(i * n));
    CHECK(data[i].data<float>()[1] == float(n));
  }
}

TEST_CASE("an empty tensor takes part in all-reduce") {
  Tensor empty = Tensor::empty(DType::float32, {0});
  CHECK_NOTHROW(world()->all_reduce(empty));
  CHECK_NOTHROW(world()->start_all_reduce(empty)->wait());
}

TEST_CASE("broadcast overwrites with the root's values, of any type") {
  const int root = world()->size() - 1;
  Tensor data = ranks_own();
  world()->broadcast(data, root);
  CHECK(data.data<float>()[1] == 10.0f * root);
  Tensor small = Tensor::vector<BFloat16>({BFloat16(float(world()->rank()))});
  world()->broadcast(small, root);
  CHECK(float(*small.data<BFloat16>()) == float(root));
}

TEST_CASE("all-gather puts the ranks' parts in order") {
  const int n = world()->size();
  const Tensor mine = Tensor::vector<std::int32_t>({world()->rank(), -1});
  Tensor all = Tensor::zeros(DType::int32, {n, 2});
  world()->all_gather(mine, all);
  for (int r = 0; r < n; ++r) {
    CHECK(all.data<std::int32_t>()[2 * r] == r);
    CHECK(all.data<std::int32_t>()[2 * r + 1] == -1);
  }
}

TEST_CASE("reduce-scatter gives rank r the sum of the parts r") {
  const int n = world()->size();
  Tensor all = Tensor::empty(DType::float32, {n});
  for (int part = 0; part < n; ++part) all.data<float>()[part] = float(part + 1);
  Tensor mine = Tensor::zeros(DType::float32, {1});
  world()->reduce_scatter(all, mine);
  CHECK(mine.item<float>() == float(n * (world()->rank() + 1)));
}

TEST_CASE("what is sent around the ring comes back") {
  const int n = world()->size(), rank = world()->rank();
  if (n == 1) return;
  const int right = (rank + 1) % n, left = (rank + n - 1) % n;
  Tensor token = Tensor::scalar<std::int32_t>(rank);
  for (int hop = 0; hop < n; ++hop) {
    const Tensor out = token.copy();
    const auto sending = world()->start_send(out, right, 7);
    world()->receive(token, left, 7);
    sending->wait();
    CHECK(token.item<std::int32_t>() == (rank + n - 1 - hop) % n);
  }
}

TEST_CASE("traffic counts every call and the bytes that its table promises") {
  const int n = world()->size(), rank = world()->rank();
  const Traffic before = world()->traffic();
  Tensor six = Tensor::zeros(DType::float32, {6});
  Tensor mine = Tensor::zeros(DType::float64, {2}), all = Tensor::zeros(DType::float64, {2 * n});
  world()->all_reduce(six);
  world()->start_all_reduce(six)->wait();
  world()->broadcast(six, 0);
  world()->all_gather(mine, all);
  world()->reduce_scatter(all, mine);
  world()->barrier();
  if (n > 1 && rank == 0) world()->send(six, 1);
  if (n > 1 && rank == 1) world()->receive(six, 0);

  auto counted = world()->traffic().since(before).by_call;
  if (n == 1) {
    CHECK(counted["all_reduce"] == Line{2, 0, 0});
    CHECK(counted["all_gather"] == Line{1, 0, 0});
    CHECK(counted.size() == 5);
    return;
  }
  CHECK(counted["all_reduce"] == Line{2, 2 * (2 * (n - 1) * 24 / n), 2 * (2 * (n - 1) * 24 / n)});
  CHECK(counted["broadcast"] == (rank == 0 ? Line{1, 24 * (n - 1), 0} : Line{1, 0, 24}));
  CHECK(counted["all_gather"] == Line{1, 16 * (n - 1), 16 * (n - 1)});
  CHECK(counted["reduce_scatter"] == Line{1, 16 * (n - 1), 16 * (n - 1)});
  CHECK(counted["barrier"] == Line{1, 0, 0});
  CHECK(counted.contains("send") == (rank == 0));
  CHECK(counted.contains("receive") == (rank == 1));
  if (rank == 0) CHECK(counted["send"] == Line{1, 24, 0});
  if (rank == 1) CHECK(counted["receive"] == Line{1, 0, 24});
}

TEST_CASE("every rank learns the traffic of all") {
  world()->barrier();
  const Traffic mine = world()->traffic();
  const auto all = gather_traffic(*world(), mine);
  REQUIRE(all.size() == static_cast<std::size_t>(world()->size()));
  CHECK(all[static_cast<std::size_t>(world()->rank())].by_call == mine.by_call);
  // All but point-to-point calls were made by all ranks alike.
  CHECK(all.front().by_call.at("barrier").calls == all.back().by_call.at("barrier").calls);
}

TEST_CASE("an observer sees each call with its bytes, until it is removed") {
  struct Recorder : CommunicationEvent {
    std::vector<std::string> seen;
    void before_call(const CommunicationInfo& call) override {
      seen.push_back(std::string(call.call) + " " + std::to_string(call.bytes_sent));
    }
    void after_call(const CommunicationInfo& call) override {
      seen.push_back("/" + std::string(call.call));
    }
  };
  const auto recorder = std::make_shared<Recorder>();
  world()->events().add(recorder);
  Tensor data = Tensor::zeros(DType::float32, {2});
  world()->all_reduce(data);
  world()->events().remove(recorder.get());
  world()->barrier();
  const std::string first =
      "all_reduce " + std::to_string(Traffic::of_all_reduce(8, world()->size()));
  CHECK(recorder->seen == std::vector<std::string>{first, "/all_reduce"});
}

TEST_CASE("an observer that is let go hears the end of what was under way") {
  struct Ends : CommunicationEvent {
    explicit Ends(int& count) : count_(count) {}
    void complete(const CommunicationInfo&) override { ++count_; }
    int& count_;
  };
  int ends = 0;
  auto observer = std::make_shared<Ends>(ends);
  const std::weak_ptr<Ends> watched = observer;
  world()->events().add(observer);
  Tensor data = ranks_own();
  auto request = world()->start_all_reduce(data);
  world()->events().remove(observer.get());
  observer.reset();
  CHECK_FALSE(watched.expired());
  request->wait();
  CHECK(ends == 1);
  request.reset();
  CHECK(watched.expired());
}

TEST_CASE("bad arguments throw on the rank that made them, before anything is sent") {
  const int n = world()->size();
  const Traffic before = world()->traffic();
  Tensor data = Tensor::zeros(DType::float32, {2});
  Tensor text = Tensor::empty(DType::string, {1});
  Tensor wrong = Tensor::zeros(DType::float32, {2 * n + 1});
  CHECK_THROWS_AS(world()->broadcast(data, n), ValueError);
  CHECK_THROWS_AS(world()->send(data, -1), ValueError);
  CHECK_THROWS_AS(world()->send(data, world()->rank()), ValueError);
  if (n > 1) CHECK_THROWS_AS(world()->send(data, (world()->rank() + 1) % n, 1 << 20), ValueError);
  CHECK_THROWS_AS(world()->all_reduce(text), TypeError);
  CHECK_THROWS_AS(world()->all_gather(data, wrong), ShapeError);
  CHECK_THROWS_AS(world()->reduce_scatter(wrong, data), ShapeError);
  CHECK(world()->traffic().by_call == before.by_call);
  const std::string rank = "rank " + std::to_string(world()->rank()) + ":";
  CHECK_THROWS_WITH(world()->broadcast(data, n), Catch::StartsWith(rank));
}
