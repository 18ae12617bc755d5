// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/scaling_table.hpp"
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

Measurement timed(double seconds, const std::string& ranks, const std::string& scaling = "strong",
                  const std::string& metric = "time") {
  Measurement m{.subject = "mnist",
                .framework = "torch",
                .metric = metric,
                .unit = "s",
                .quantity = Quantity::time,
                .samples = {seconds}};
  if (!ranks.empty())
    m.conditions = {{"ranks", {typed_value(ranks), Role::identity}},
                    {"scaling", identity(scaling)}};
  return m;
}

}  // namespace

TEST_CASE("speed-up and efficiency are over the fewest ranks, communication is a share") {
  const auto table = scaling_table(
      {timed(4, "4"), timed(1, "4", "strong", "communication_time"), timed(12, ""), timed(8, "2")});
  CHECK(table.to_text(Format::csv) ==
        "subject,framework,metric,ranks,value,speed-up,efficiency,communication,share,status\r\n"
        "mnist,torch,time,1,12.0 s,,,,,passed\r\n"
        "mnist,torch,time,2,8.00 s,1.50,0.75,,,passed\r\n"
        "mnist,torch,time,4,4.00 s,3.00,0.75,1.00 s,0.250,passed\r\n");
}

TEST_CASE("communication is a share of all epochs together") {
  Measurement epochs = timed(0, "2", "strong", "epoch_time");
  epochs.samples = {3, 5};
  const auto table = scaling_table({timed(8, "1", "strong", "epoch_time"), epochs,
                                    timed(2, "2", "strong", "communication_time")});
  CHECK(table.rows().at(1).at(7) == "2.00 s");
  CHECK(table.rows().at(1).at(8) == "0.250");
}

TEST_CASE("under weak scaling the work grows with the ranks") {
  const auto table = scaling_table({timed(10, "1", "weak"), timed(12.5, "4", "weak")});
  CHECK(table.rows().at(1).at(5) == "3.20");
  CHECK(table.rows().at(1).at(6) == "0.80");
}

TEST_CASE("one number of ranks scales nothing, and the error says what to give") {
  CHECK_THROWS_WITH(scaling_table({timed(1, "2"), timed(2, "2")}), Catch::Contains("mpirun -np 2"));
  CHECK_THROWS_AS(scaling_table({}), ValueError);
}
