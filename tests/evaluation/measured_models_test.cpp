// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/measured_models.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"
#include "tests/evaluation/sample_evaluation.hpp"

namespace d5 {
namespace {

void keep(EvaluationDatabase& database, const std::string& id, std::vector<Measurement> records) {
  EvaluationRun run;
  run.id = id;
  run.environment = testing::an_environment();
  database.evaluation(run);
  database.measurements(id, "cell", records);
}

TEST_CASE("a database knows the best of each model in each framework") {
  testing::on_each_database([](const testing::AnyDatabase& any) {
    const auto database = any.open();
    CHECK(measured_models(*database).empty());
    keep(*database, "slow", testing::records_of({"torch", 1, 0.002, 50, 0.8}));
    auto newer = testing::records_of({"torch", 8, 0.001, 40, 0.9});
    for (Measurement& record : newer) record.subject = "lenet@2.0.0";
    keep(*database, "newer", newer);
    keep(*database, "other", testing::records_of({"reference", 1, 0.004, 10, 0.9}));
    // What did not pass, and what is no evaluation, is not known.
    auto failed = testing::records_of({"torch", 1, 0.0001, 1000, 1});
    for (Measurement& record : failed) {
      record.status = Status::failed;
      record.reason = "it is wrong";
    }
    keep(*database, "failed", failed);
    auto training = testing::records_of({"openvino", 1, 0.001, 100, 0.9});
    for (Measurement& record : training) record.level = "2";
    keep(*database, "training", training);

    const auto all = measured_models(*database);
    REQUIRE(all.size() == 2);
    CHECK(all[0].framework == "reference");
    CHECK(all[1].model == "lenet");
    CHECK(all[1].framework == "torch");
    CHECK(*all[1].latency == Approx(0.0505));  // the median of 1 to 100 ms
    CHECK(*all[1].throughput == 50);
    CHECK(all[1].accuracy.at("top1") == Approx(0.9));
    CHECK(all[1].accuracy.size() == 1);
  });
}

}  // namespace
}  // namespace d5
