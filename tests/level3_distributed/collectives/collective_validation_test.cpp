// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective_validation.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"

using namespace d5;

namespace {

class Complete final : public Request {
 public:
  void wait() override {}
  bool done() override { return true; }
};

/// The communicator's own, and then one fault.
class FaultyAllReduce : public AllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                 Reduction reduction) override {
    communicator.all_reduce(data, reduction);
    if (data.elements() > 0) spoil(communicator, data);
    return std::make_unique<Complete>();
  }

 private:
  virtual void spoil(Communicator& communicator, Tensor& data) = 0;
};

/// Wrong by a millionth, in the same way on all ranks.
class RoughAllReduce final : public FaultyAllReduce {
  void spoil(Communicator&, Tensor& data) override {
    if (data.dtype() == DType::float32) data.data<float>()[data.elements() - 1] *= 1.00001f;
  }
};

/// Wrong by a unit in the last place, on the last rank alone.
class UnequalAllReduce final : public FaultyAllReduce {
  void spoil(Communicator& communicator, Tensor& data) override {
    if (data.dtype() != DType::float64) return;
    if (communicator.rank() == communicator.size() - 1) {
      double& first = data.data<double>()[0];
      first = std::nextafter(first, 0.0);
    }
  }
};

/// Sums whatever it is asked for.
class SummingAllReduce final : public AllReduce {
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data, Reduction) override {
    communicator.all_reduce(data);
    return std::make_unique<Complete>();
  }
};

/// Each wait reduces the call started last.
class MixingAllReduce final : public AllReduce {
  class Late final : public Request {
   public:
    Late(MixingAllReduce& owner, Communicator& communicator, Reduction reduction)
        : owner_(owner), communicator_(communicator), reduction_(reduction) {}
    void wait() override { (void)done(); }
    bool done() override {
      if (!done_) communicator_.all_reduce(*owner_.last_, reduction_);
      return done_ = true;
    }

   private:
    MixingAllReduce& owner_;
    Communicator& communicator_;
    Reduction reduction_;
    bool done_ = false;
  };
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                 Reduction reduction) override {
    last_ = &data;
    return std::make_unique<Late>(*this, communicator, reduction);
  }
  Tensor* last_ = nullptr;
};

/// Leaves the last element unchanged, and predicts half of the bytes.
class ForgetfulBroadcast final : public Broadcast {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data, int root) override {
    if (data.elements() > 0) {
      Tensor some = data.slice(0, data.elements() - 1);
      communicator.broadcast(some, root);
    }
    return std::make_unique<Complete>();
  }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    const std::int64_t half = size.ranks > 1 ? size.elements * size.element_bytes / 2 : 0;
    return Traffic::Line{size.elements > 0 ? 1 : 0, half, 0};
  }
};

const Measurement& named(const std::vector<Measurement>& results, const std::string& metric) {
  return *std::ranges::find(results, metric, &Measurement::metric);
}

template <class Faulty>
std::vector<Measurement> check_faulty(const std::string& name) {
  all_reduces().add(name, AllReduceEntry::of<Faulty>("faulty"));
  return check_collective(CallKind::all_reduce, {name}, *world());
}

/// The names of failed records.
std::string failed(const std::vector<Measurement>& results) {
  std::string names;
  for (const auto& result : results) {
    if (result.status == Status::failed) names += result.metric + " ";
  }
  return names;
}

}  // namespace

TEST_CASE("every algorithm of each kind passes on several ranks, and is skipped on one") {
  const Status expected = world()->size() == 1 ? Status::skipped : Status::passed;
  for (const CollectiveKind& kind : collective_kinds()) {
    for (const std::string& name : kind.names()) {
      CAPTURE(kind.word, name);
      const auto results = check_collective(kind.call, {name}, *world(), 3);
      REQUIRE(results.size() >= 3);
      for (const auto& result : results) {
        CAPTURE(result.metric, result.reason);
        CHECK(result.status == expected);
        CHECK(result.subject == kind.word + " " + name);
        CHECK_THAT(result.command,
                   Catch::Contains("d5 " + kind.word + " check " + name + " --threads ") &&
                       Catch::EndsWith(" --seed 3"));
        CHECK(result.conditions.at("ranks") == std::to_string(world()->size()));
      }
    }
  }
}

TEST_CASE("each fault of an all-reduce fails its own record, on every rank") {
  const bool alone = world()->size() == 1;
  CHECK(failed(check_faulty<RoughAllReduce>("rough")) == "all_reduce_error ");
  const auto unequal = check_faulty<UnequalAllReduce>("unequal");
  CHECK((named(unequal, "all_reduce_agreement").status == Status::failed) == !alone);
  CHECK(failed(check_faulty<SummingAllReduce>("summing")) == (alone ? "" : "all_reduce_extremes "));
  CHECK(failed(check_faulty<MixingAllReduce>("mixing")) == (alone ? "" : "all_reduce_under_way "));
}

TEST_CASE("a broadcast that forgets an element, or counts too few bytes, fails its records") {
  broadcasts().add("forgetful", BroadcastEntry::of<ForgetfulBroadcast>("faulty"));
  const bool alone = world()->size() == 1;
  const auto results = check_collective(CallKind::broadcast, {"forgetful"}, *world());
  CHECK(failed(results) == (alone ? "" : "broadcast_error broadcast_under_way broadcast_volume "));
}

TEST_CASE("a kind without algorithms is refused") {
  CHECK_THROWS_AS(check_collective(CallKind::gather, {"mpi"}, *world()), ValueError);
}

TEST_CASE("an all-reduce or a setting that is not there is refused") {
  CHECK_THROWS_AS(check_collective(CallKind::all_reduce, {"rings"}, *world()), NotFound);
  CHECK_THROWS_AS(check_collective(CallKind::all_reduce, {"ring", {{"segments", 4}}}, *world()),
                  NotFound);
}
