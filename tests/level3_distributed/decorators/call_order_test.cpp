// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/call_order.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/node/memory_window.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::rank_count, testing::this_rank;

namespace {

std::shared_ptr<Communicator> ordered() { return std::make_shared<CallOrder>(world()); }

Tensor ones(std::int64_t elements) {
  return Tensor::vector(std::vector<float>(static_cast<std::size_t>(elements), 1));
}

}  // namespace

TEST_CASE("calls in the same order pass, started ones in any order of waits") {
  const auto ranks = ordered();
  std::vector<Tensor> data;
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 1; i <= 4; ++i) {
    data.push_back(ones(i));
    requests.push_back(ranks->start_all_reduce(data.back()));
  }
  for (int i = 0; i < 4; ++i) requests[std::size_t((i + this_rank) % 4)]->wait();
  for (const Tensor& sum : data) CHECK(sum.data<float>()[0] == float(rank_count));
  Tensor word = Tensor::scalar(this_rank == rank_count - 1 ? 7 : 0);
  ranks->broadcast(word, rank_count - 1);
  CHECK(word.item<int>() == 7);
  ranks->barrier();
  Tensor ring = ones(10);
  all_reduces().at("ring").make()->start(*ranks, ring)->wait();
  CHECK(ring.data<float>()[9] == float(rank_count));
  const auto group = ranks->split(this_rank % 2);
  Tensor of_group = ones(1);
  group->all_reduce(of_group);
  CHECK(of_group.item<float>() == float(group->size()));
}

TEST_CASE("a compared call tells the resources that it used") {
  if (rank_count < 2) return;
  const auto ranks = ordered();
  const auto algorithm = all_reduces().at("node_memory").make();
  for (const int threads : {0, 1}) {
    Tensor data = ones(1000);
    const auto request = ranks->with({.resources = {.threads = threads}},
                                     [&] { return algorithm->start(*ranks, data); });
    request->wait();
    REQUIRE(request->used());
    CHECK(request->used()->resources.threads == threads);
    CHECK(request->used()->ignored.empty());
  }
}

TEST_CASE("parts of different sizes are no difference") {
  const auto ranks = ordered();
  RankCounts counts;
  for (int r = 0; r < rank_count; ++r) counts.push_back(r + 1);
  Tensor all = ones(rank_count * (rank_count + 1) / 2), mine = ones(this_rank + 1);
  ranks->all_gather(mine, all, counts);
  ranks->reduce_scatter(all, mine, Reduction::sum, counts);
  CHECK(mine.data<float>()[0] == float(rank_count));
  ranks->gather(mine, all, 0, counts);
  ranks->scatter(all, mine, 0, counts);
}

TEST_CASE("a started call may wait for a rank that first wants a message") {
  if (rank_count < 2) return;
  const auto ranks = ordered();
  Tensor sum = ones(3), word = ones(1);
  if (this_rank == 0) {
    const auto request = ranks->start_all_reduce(sum);
    ranks->send(word, 1);
    request->wait();
  } else {
    if (this_rank == 1) ranks->receive(word, 0);
    ranks->start_all_reduce(sum)->wait();
  }
  CHECK(sum.data<float>()[0] == float(rank_count));
}

TEST_CASE("calls that differ are an error on every rank that names both and their ranks") {
  if (rank_count < 2) return;
  const bool other = this_rank == rank_count - 1;
  const auto ranks = ordered();
  ranks->barrier();
  Tensor ten = ones(10), twenty = ones(20);
  std::string message;
  const auto expect_error = [&](const auto& call) {
    try {
      call();
      FAIL("no error");
    } catch (const CommunicationError& error) {
      message = error.what();
    }
  };
  SECTION("other collectives, root and all") {
    expect_error([&] { other ? ranks->broadcast(ten, 0) : ranks->all_reduce(ten); });
    CHECK_THAT(message, Catch::Contains("broadcast of 10 x float32, root 0 at rank " +
                                        std::to_string(rank_count - 1)) &&
                            Catch::Contains("all_reduce of 10 x float32, sum at rank 0"));
  }
  SECTION("sizes") {
    expect_error([&] { ranks->all_reduce(other ? twenty : ten); });
    CHECK_THAT(message, Catch::Contains("of 10 x") && Catch::Contains("of 20 x"));
  }
  SECTION("types") {
    Tensor whole = Tensor::zeros(DType::int32, {10});
    expect_error([&] { ranks->all_reduce(other ? whole : ten); });
    CHECK_THAT(message, Catch::Contains("int32") && Catch::Contains("float32"));
  }
  SECTION("reductions") {
    expect_error([&] { ranks->all_reduce(ten, other ? Reduction::maximum : Reduction::sum); });
    CHECK_THAT(message, Catch::Contains("sum at") && Catch::Contains("maximum at"));
  }
  SECTION("roots") {
    expect_error([&] { ranks->broadcast(ten, other ? 1 : 0); });
    CHECK_THAT(message, Catch::Contains("root 0 at") && Catch::Contains("root 1 at"));
  }
  SECTION("groups in place of calls") {
    expect_error([&] { other ? (void)ranks->split(0) : ranks->all_reduce(ten); });
    CHECK_THAT(message, Catch::Contains("split at"));
  }
  SECTION("started ones") {
    expect_error([&] {
      const auto first = ranks->start_all_reduce(other ? twenty : ten);
      const auto second = ranks->start_all_reduce(other ? ten : twenty);
      second->wait();
    });
    CHECK_THAT(message, Catch::Contains("number 2 of world"));
  }
  CHECK_THAT(message, Catch::StartsWith("rank " + std::to_string(this_rank) + ": "));
  CHECK_THROWS_AS(ranks->barrier(), CommunicationError);  // who is out of step stays so
}

TEST_CASE("an end is answered by the ends of the other ranks alone") {
  const auto ranks = ordered();
  dynamic_cast<CallOrder&>(*ranks).end();
  if (rank_count < 2) return;
  const auto call = [&] {
    if (this_rank == 0) return ranks->barrier();
    dynamic_cast<CallOrder&>(*ranks).end();
  };
  CHECK_THROWS_WITH(
      call(), Catch::Contains("barrier at rank 0") && Catch::Contains("no further call at rank 1"));
}

TEST_CASE("sums in memory, and what makes memory, are compared as calls are") {
  if (rank_count < 2) return;
  const bool other = this_rank == rank_count - 1;
  const std::shared_ptr<Communicator> ranks =
      std::make_shared<CallOrder>(world()->split(0, this_rank));
  const auto sums = all_reduces().at("node_memory").make();
  Tensor ten = ones(10), twenty = ones(20);
  sums->start(*ranks, ten)->wait();
  CHECK(ten.data<float>()[9] == float(rank_count));
  const auto expect_words = [&](const auto& call, const std::string& words) {
    try {
      call();
      FAIL("no error");
    } catch (const CommunicationError& error) {
      CHECK_THAT(error.what(), Catch::Contains(words));
    }
  };
  SECTION("sums of other sizes") {
    expect_words([&] { sums->start(*ranks, other ? twenty : ten)->wait(); }, "of 20 x float32");
  }
  SECTION("a sum in memory in place of a call") {
    expect_words([&] { other ? sums->start(*ranks, twenty)->wait() : ranks->barrier(); },
                 "barrier at");
  }
  SECTION("memory in place of a call") {
    expect_words([&] { other ? (void)NodeMemory::make(*ranks, 64) : ranks->barrier(); },
                 "barrier at");
  }
  SECTION("a window in place of a call") {
    const auto kind = GENERATE(MemoryWindowKind::node, MemoryWindowKind::library);
    expect_words(
        [&] { other ? (void)make_memory_window(ranks, 64, kind) : ranks->all_reduce(ten); },
        "all_reduce of 10 x float32, sum at");
  }
}
