// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/all_reduce_validation.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "d5/core/error.hpp"
#include "d5/level3_distributed/collective.hpp"

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

/// Whoever waits reduces what was started last.
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

const Measurement& named(const std::vector<Measurement>& results, const std::string& metric) {
  return *std::ranges::find(results, metric, &Measurement::metric);
}

template <class Faulty>
std::vector<Measurement> check_faulty(const std::string& name) {
  all_reduces().add(name, AllReduceEntry::of<Faulty>("faulty"));
  return check_all_reduce({name}, *world());
}

/// Those that failed, as words.
std::string failed(const std::vector<Measurement>& results) {
  std::string names;
  for (const auto& result : results) {
    if (result.status == Status::failed) names += result.metric + " ";
  }
  return names;
}

}  // namespace

TEST_CASE("d5's all-reduces pass on several ranks, and are skipped on one") {
  const Status expected = world()->size() == 1 ? Status::skipped : Status::passed;
  for (const std::string name : {"mpi", "ring"}) {
    CAPTURE(name);
    const auto results = check_all_reduce({name}, *world(), 3);
    REQUIRE(results.size() == 4);
    for (const auto& result : results) {
      CHECK(result.status == expected);
      CHECK(result.subject == "all-reduce " + name);
      CHECK_THAT(result.command, Catch::EndsWith("d5 all-reduce check " + name + " --seed 3"));
      CHECK(result.conditions.at("ranks") == std::to_string(world()->size()));
    }
  }
}

TEST_CASE("each fault of an all-reduce is told by its record, on every rank") {
  const bool alone = world()->size() == 1;
  CHECK(failed(check_faulty<RoughAllReduce>("rough")) == "all_reduce_error ");
  const auto unequal = check_faulty<UnequalAllReduce>("unequal");
  CHECK((named(unequal, "all_reduce_agreement").status == Status::failed) == !alone);
  CHECK(failed(check_faulty<SummingAllReduce>("summing")) == (alone ? "" : "all_reduce_extremes "));
  CHECK(failed(check_faulty<MixingAllReduce>("mixing")) == (alone ? "" : "all_reduce_under_way "));
}

TEST_CASE("an all-reduce or a setting that is not there is refused") {
  CHECK_THROWS_AS(check_all_reduce({"rings"}, *world()), NotFound);
  CHECK_THROWS_AS(check_all_reduce({"ring", {{"segments", 4}}}, *world()), NotFound);
}
