// SPDX-License-Identifier: Apache-2.0
// Killed and hung ranks end their job: see jobs/.
#include "d5/level3_distributed/decorators/fault_injection.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::rank_count, testing::this_rank;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<Communicator> faulty(const std::string& words) {
  FaultOptions fault = fault_of(words);
  fault.counts = FaultOptions::Counts::calls;
  return std::make_shared<FaultInjection>(world(), fault);
}

Tensor nothing(DType type = DType::float32) { return Tensor::zeros(type, {8}); }

}  // namespace

TEST_CASE("faults are read from words and written as such") {
  const FaultOptions fault = fault_of("delay:step=3,rank=2,seconds=0.5");
  CHECK(fault.kind == FaultOptions::Kind::delay);
  CHECK(fault.rank == 2);
  CHECK(fault.step == 3);
  CHECK(fault.duration == 500ms);
  for (const char* words : {"kill:rank=1,step=100", "hang:rank=0,step=1", "nan:rank=3,step=2",
                            "delay:rank=0,step=3,seconds=0.5"}) {
    CHECK(to_string(fault_of(words)) == words);
  }
}

TEST_CASE("a malformed fault is refused with an example of one") {
  for (const char* words :
       {"", "kill", "kill:", "burn:rank=1,step=1", "kill:step=1", "kill:rank=1",
        "kill:rank=-1,step=1", "kill:rank=1,step=0", "kill:rank=1,step=-3", "kill:rank=1,step=1.5",
        "kill:rank=one,step=1", "kill:rank=1,step=1,seconds=3", "delay:rank=1,step=1,seconds=-1",
        "delay:rank=1,step=1,seconds=nan", "kill:rank=1,step=1,when=now", "kill:rank=1;step=1"}) {
    INFO(words);
    CHECK_THROWS_AS(fault_of(words), ValueError);
    CHECK_THROWS_WITH(fault_of(words), Catch::Contains("hang:rank=1,step=100"));
  }
}

TEST_CASE("a fault at a rank that does not exist is refused") {
  CHECK_THROWS_WITH(faulty("kill:rank=" + std::to_string(rank_count) + ",step=1"),
                    Catch::Contains("the ranks are 0 to " + std::to_string(rank_count - 1)));
}

TEST_CASE("a NaN goes into the data of one all-reduce, once") {
  const auto ranks = faulty("nan:rank=0,step=2");
  Tensor first = nothing(), whole = nothing(DType::int32), second = nothing(), third = nothing();
  ranks->all_reduce(first);
  ranks->all_reduce(whole);  // has none
  ranks->all_reduce(second);
  ranks->all_reduce(third);
  CHECK(first.data<float>()[0] == 0);
  CHECK(std::isnan(second.data<float>()[0]));
  CHECK(second.data<float>()[1] == 0);
  CHECK(third.data<float>()[0] == 0);
}

TEST_CASE("a NaN goes into an algorithm of messages as well, in all types") {
  if (rank_count < 2) return;
  for (const DType type : {DType::float32, DType::float64}) {
    const auto ranks = faulty("nan:rank=0,step=1");
    Tensor sum = nothing(type);
    all_reduces().at("ring").make()->start(*ranks, sum)->wait();
    int found = 0;
    for (int i = 0; i < 8; ++i) {
      found += std::isnan(type == DType::float32 ? sum.data<float>()[i] : sum.data<double>()[i]);
    }
    CHECK(found >= 1);
  }
}

TEST_CASE("a delay holds its rank up once, and with it who waits for it") {
  const auto ranks = faulty("delay:rank=0,step=2,seconds=0.2");
  Tensor begin = Tensor::scalar<std::int64_t>(Trace::now_ns());
  world()->broadcast(begin, 0);  // all ranks have one clock
  const auto since = [&] {
    return std::chrono::nanoseconds(Trace::now_ns() - begin.item<std::int64_t>());
  };
  ranks->barrier();
  ranks->barrier();
  CHECK(since() >= 200ms);
  const auto delayed = since();
  ranks->barrier();
  CHECK(since() < delayed + 200ms);
}

TEST_CASE("nothing happens outside of training where steps of training count") {
  const auto ranks = std::make_shared<FaultInjection>(world(), fault_of("nan:rank=0,step=1"));
  Tensor sum = nothing();
  ranks->all_reduce(sum);
  CHECK(sum.data<float>()[0] == 0);
}
