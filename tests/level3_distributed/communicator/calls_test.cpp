// SPDX-License-Identifier: Apache-2.0
// Groups, parts of different sizes, calls in flight, decorators and observers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "d5/level3_distributed/communicator/communicator_decorator.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"

using namespace d5;
using Line = Traffic::Line;

namespace {

const int n = world()->size(), rank = world()->rank();

/// Rank r has r + 1 elements, each r.
Tensor own_part(int of = rank) {
  Tensor part = Tensor::empty(DType::int32, {of + 1});
  std::ranges::fill(part.span<std::int32_t>(), of);
  return part;
}

RankCounts part_counts() {
  RankCounts counts(static_cast<std::size_t>(n));
  std::iota(counts.begin(), counts.end(), 1);
  return counts;
}

Tensor all_parts() {
  std::vector<std::int32_t> all;
  for (int r = 0; r < n; ++r) all.insert(all.end(), static_cast<std::size_t>(r + 1), r);
  return Tensor::vector(all);
}

bool equal(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.span<std::int32_t>(), b.span<std::int32_t>());
}

/// A decorator that adds nothing.
class Plain final : public CommunicatorDecorator {
 public:
  using CommunicatorDecorator::CommunicatorDecorator;
  int calls = 0;

 protected:
  std::unique_ptr<Request> do_start(const CommunicationCall& call) override {
    ++calls;
    return start_inner(call);
  }
  std::shared_ptr<Communicator> decorate(std::shared_ptr<Communicator> group) override {
    return std::make_shared<Plain>(std::move(group));
  }
};

}  // namespace

TEST_CASE("parts may differ in size by rank") {
  const RankCounts counts = part_counts();
  const Tensor all = all_parts();
  Tensor got = Tensor::zeros(DType::int32, {all.elements()});
  world()->all_gather(own_part(), got, counts);
  CHECK(equal(got, all));

  for (int root = 0; root < n; ++root) {
    Tensor gathered = rank == root ? Tensor::zeros(DType::int32, {all.elements()}) : Tensor();
    world()->gather(own_part(), gathered, root, counts);
    if (rank == root) CHECK(equal(gathered, all));
    Tensor mine = Tensor::zeros(DType::int32, {rank + 1});
    world()->scatter(rank == root ? all : Tensor(), mine, root, counts);
    CHECK(equal(mine, own_part()));
  }

  Tensor reduced = Tensor::zeros(DType::int32, {rank + 1});
  world()->reduce_scatter(all, reduced, Reduction::sum, counts);
  CHECK(reduced.data<std::int32_t>()[rank] == rank * n);

  // Rank r has r + 1 elements for each, and gets s + 1 of rank s.
  Tensor to = Tensor::empty(DType::int32, {n * (rank + 1)});
  std::ranges::fill(to.span<std::int32_t>(), rank);
  Tensor from = Tensor::zeros(DType::int32, {all.elements()});
  world()->all_to_all(to, from, RankCounts(static_cast<std::size_t>(n), rank + 1), counts);
  CHECK(equal(from, all));
}

TEST_CASE("every call has a form that is under way when it returns") {
  const RankCounts counts = part_counts();
  const Tensor all = all_parts(), mine = own_part();
  Tensor sum = Tensor::scalar<std::int32_t>(1), told = Tensor::scalar<std::int32_t>(rank);
  Tensor gathered = Tensor::zeros(DType::int32, {all.elements()}), at_root = gathered.copy();
  Tensor reduced = Tensor::zeros(DType::int32, {rank + 1}), scattered = reduced.copy();
  Tensor to = Tensor::empty(DType::int32, {n}), from = Tensor::zeros(DType::int32, {n});
  std::ranges::fill(to.span<std::int32_t>(), rank);
  std::vector<std::unique_ptr<Request>> under_way;
  under_way.push_back(world()->start_all_reduce(sum));
  under_way.push_back(world()->start_broadcast(told, n - 1));
  under_way.push_back(world()->start_all_gather(mine, gathered, counts));
  under_way.push_back(world()->start_reduce_scatter(all, reduced, Reduction::maximum, counts));
  under_way.push_back(world()->start_gather(mine, at_root, 0, counts));
  under_way.push_back(world()->start_scatter(all, scattered, 0, counts));
  under_way.push_back(world()->start_all_to_all(to, from));
  under_way.push_back(world()->start_barrier());
  std::ranges::reverse(under_way);
  for (auto& request : under_way) request->wait();
  CHECK(sum.item<std::int32_t>() == n);
  CHECK(told.item<std::int32_t>() == n - 1);
  CHECK(equal(gathered, all));
  CHECK(equal(reduced, mine));
  if (rank == 0) CHECK(equal(at_root, all));
  CHECK(equal(scattered, mine));
  for (int r = 0; r < n; ++r) CHECK(from.data<std::int32_t>()[r] == r);
}

TEST_CASE("float16 and bfloat16 are added in float32, and rounded") {
  // 2048 + 1 + ... in float16 would stay 2048 where each 1 were lost; 1 + 1 + ... is exact.
  Tensor half = Tensor::vector<Float16>({Float16(1.0f), Float16(rank == 0 ? 0.5f : 0.25f)});
  world()->all_reduce(half);
  CHECK(float(half.data<Float16>()[0]) == float(n));
  CHECK(float(half.data<Float16>()[1]) == 0.5f + 0.25f * float(n - 1));
  Tensor brain = Tensor::vector<BFloat16>({BFloat16(float(rank))}), least = brain.copy();
  world()->start_all_reduce(brain, Reduction::maximum)->wait();
  world()->all_reduce(least, Reduction::minimum);
  CHECK(float(*brain.data<BFloat16>()) == float(n - 1));
  CHECK(float(*least.data<BFloat16>()) == 0);
}

TEST_CASE("a receive takes what comes from anyone, and shorter messages where it asks") {
  if (n == 1) return;
  if (rank > 0) return world()->send(own_part(), 0, 3);
  std::vector<bool> seen(static_cast<std::size_t>(n));
  const Traffic before = world()->traffic();
  std::int64_t bytes = 0;
  for (int i = 1; i < n; ++i) {
    Tensor room = Tensor::zeros(DType::int32, {n + 5});
    Received received;
    world()->receive(room, kAnyRank, 3, &received);
    CHECK(received.elements == received.from + 1);
    CHECK(room.data<std::int32_t>()[0] == received.from);
    seen[static_cast<std::size_t>(received.from)] = true;
    bytes += 4 * received.elements;
  }
  CHECK(std::ranges::count(seen, true) == n - 1);
  CHECK(world()->traffic().since(before).by_call.at("receive") == Line{n - 1, 0, bytes});
}

TEST_CASE("a message of another size than expected is an error at who receives it") {
  if (n == 1) return;
  if (rank == 1) world()->send(Tensor::zeros(DType::float32, {2}), 0, 5);
  if (rank == 0) {
    Tensor room = Tensor::zeros(DType::float32, {3});
    CHECK_THROWS_WITH(world()->receive(room, 1, 5), Catch::Contains("8 bytes came from rank 1"));
  }
  if (rank == 1) world()->send(Tensor::zeros(DType::float32, {9}), 0, 6);
  if (rank == 0) {
    Tensor room = Tensor::zeros(DType::float32, {3});
    CHECK_THROWS_WITH(world()->receive(room, 1, 6), Catch::StartsWith("rank 0: receive of 3"));
  }
}

TEST_CASE("a wait ends at its deadline") {
  using namespace std::chrono_literals;
  if (n == 1) return;
  Tensor late = Tensor::scalar<float>(1);
  if (rank == 1) {
    Tensor go = Tensor::scalar<float>(0);
    world()->receive(go, 0, 8);
    world()->send(late, 0, 9);
  }
  if (rank == 0) {
    const auto request = world()->start_receive(late, 1, 9);
    CHECK_FALSE(request->wait_until(std::chrono::steady_clock::now() + 20ms));
    world()->send(Tensor::scalar<float>(0), 1, 8);
    CHECK(request->wait_until(std::chrono::steady_clock::now() + 60s));
  }
}

TEST_CASE("a group speaks apart, and counts into the communicator that it is of") {
  const Traffic before = world()->traffic();
  const auto group = world()->split(rank % 2, -rank);  // backwards
  REQUIRE(group);
  CHECK(group->size() == (n + 1 - rank % 2) / 2);
  CHECK(group->name() == "world/" + std::to_string(rank % 2));
  CHECK(group->outermost_rank(group->rank()) == rank);
  Tensor sum = Tensor::scalar<std::int32_t>(1);
  group->all_reduce(sum);
  CHECK(sum.item<std::int32_t>() == group->size());
  Tensor first = Tensor::scalar<std::int32_t>(rank);
  group->broadcast(first, 0);
  CHECK(first.item<std::int32_t>() == group->outermost_rank(0));
  const auto inner = group->split(0);
  inner->barrier();
  const auto counted = world()->traffic().since(before).by_call;
  CHECK(counted.at("split").calls == 2);
  CHECK(counted.at("barrier").calls == 1);
  CHECK(counted.at("all_reduce") == (group->size() == 1 ? Line{1, 0, 0} : Line{1, 4, 4}));
  CHECK(group->traffic().by_call.at("barrier").calls == 1);

  const auto some = world()->split(rank == 0 ? 7 : -1);
  CHECK((some != nullptr) == (rank == 0));
  if (some) CHECK(some->size() == 1);
}

TEST_CASE("some ranks make a group without the others") {
  // The last rank does something else meanwhile, and there are groups beside each other.
  for (const auto& around : std::vector<std::shared_ptr<Communicator>>{
           world(), std::make_shared<WireModel>(world(), wire_of("1us,10GB/s"))}) {
    std::vector<int> members;
    for (int r = n - 2; r >= 0; --r) members.push_back(r);  // backwards
    if (n == 1) members = {0};
    const bool in = std::ranges::find(members, rank) != members.end();
    if (in) {
      const Traffic before = around->traffic();
      const auto group = around->group(members);
      REQUIRE(group->size() == static_cast<int>(members.size()));
      CHECK(group->outermost_rank(group->rank()) == rank);
      CHECK(group->name().starts_with("world/["));
      Tensor sum = Tensor::scalar<std::int32_t>(rank);
      group->all_reduce(sum);
      CHECK(sum.item<std::int32_t>() == group->size() * (group->size() - 1) / 2);
      const auto inner = group->group({group->rank()});
      CHECK(inner->size() == 1);
      CHECK(inner->outermost_rank(0) == rank);
      CHECK(around->traffic().since(before).by_call.at("all_reduce").calls == 1);
    }
    CHECK_THROWS_AS(around->group({0, n}), ValueError);
    CHECK_THROWS_AS(around->group({0, 0}), ValueError);
    CHECK_THROWS_AS(around->group({}), ValueError);
  }
}

TEST_CASE("algorithms that are under way at once have tags of their own") {
  if (n == 1) return;
  const auto one = all_reduces().at("ring").make({}), other = all_reduces().at("ring").make({});
  Tensor a = Tensor::zeros(DType::float64, {1000}), b = a.copy();
  std::ranges::fill(a.span<double>(), 1);
  std::ranges::fill(b.span<double>(), 1000);
  const auto first = one->start(*world(), a), second = other->start(*world(), b);
  // Each rank progresses them in a different order.
  (rank % 2 ? first : second)->wait();
  (rank % 2 ? second : first)->wait();
  CHECK(std::ranges::all_of(a.span<double>(), [](double x) { return x == n; }));
  CHECK(std::ranges::all_of(b.span<double>(), [](double x) { return x == 1000 * n; }));
}

TEST_CASE("a decorator counts in place of the one inside, in its groups too") {
  const auto plain = std::make_shared<Plain>(world());
  const Traffic before = world()->traffic();
  Tensor sum = Tensor::scalar<std::int32_t>(1);
  plain->all_reduce(sum);
  plain->start_all_reduce(sum)->wait();
  CHECK(plain->calls == 2);
  CHECK(sum.item<std::int32_t>() == n * n);
  const auto group = plain->split(0);
  const int calls = dynamic_cast<Plain&>(*group).calls;
  group->all_reduce(sum);
  CHECK(dynamic_cast<Plain&>(*group).calls == calls + 1);
  CHECK(plain->traffic().by_call.at("all_reduce").calls == 3);
  CHECK(world()->traffic().since(before).by_call.empty());
}

TEST_CASE("observers hear of a call's life, with partner, group and bytes") {
  struct Recorder : CommunicationEvent {
    std::vector<CommunicationInfo> asked, ended;
    void before_call(const CommunicationInfo& call) override { asked.push_back(call); }
    void complete(const CommunicationInfo& call) override { ended.push_back(call); }
  };
  const auto recorder = std::make_shared<Recorder>();
  const auto group = world()->split(0, -rank);
  world()->events().add(recorder);
  Tensor data = Tensor::zeros(DType::float32, {2});
  auto request = group->start_broadcast(data, 0);
  CHECK(recorder->asked.size() == 1);
  request->wait();
  request.reset();
  group->barrier();
  world()->events().remove(recorder.get());
  REQUIRE(recorder->asked.size() == 2);
  REQUIRE(recorder->ended.size() == 2);
  const CommunicationInfo& told = recorder->ended.front();
  CHECK(told.id == recorder->asked.front().id);
  CHECK(told.id < recorder->ended.back().id);
  CHECK(told.call == "broadcast");
  CHECK(told.group == "world/0");
  CHECK(told.rank == rank);
  CHECK(told.peer == n - 1);  // the group's first
  CHECK(told.bytes_sent == (rank == n - 1 ? 8 * (n - 1) : 0));
  CHECK(told.asked_ns > 0);
  CHECK(told.begun_ns >= told.asked_ns);
  CHECK(told.ended_ns >= told.begun_ns);
  CHECK(recorder->asked.front().ended_ns == 0);
  CHECK(recorder->ended.back().peer == -1);
}

TEST_CASE("counts that do not fit are refused before anything is sent") {
  Tensor mine = own_part(), all = all_parts();
  RankCounts wrong = part_counts();
  wrong.back() += 1;
  CHECK_THROWS_AS(world()->all_gather(mine, all, wrong), ShapeError);
  CHECK_THROWS_AS(world()->all_gather(mine, all, RankCounts(static_cast<std::size_t>(n) + 1)),
                  ShapeError);
  RankCounts negative = part_counts();
  negative.front() = -1;
  CHECK_THROWS_AS(world()->all_gather(mine, all, negative), ShapeError);
  RankCounts huge(static_cast<std::size_t>(n), std::int64_t{1} << 62);
  CHECK_THROWS_AS(world()->all_to_all(all, all, huge, huge), ShapeError);
  CHECK_THROWS_AS(world()->gather(mine, all, n), ValueError);
  CHECK_THROWS_AS(world()->scatter(all, mine, -1), ValueError);
  if (n == 1) CHECK_THROWS_AS(world()->receive(mine, kAnyRank), ValueError);
}
