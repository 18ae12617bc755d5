// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/pivot.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

Measurement pivot_time(const std::string& subject, const std::string& framework, double seconds,
                       const std::string& pass = "forward") {
  return {.subject = subject,
          .framework = framework,
          .metric = "time",
          .unit = "s",
          .quantity = Quantity::time,
          .samples = std::vector<double>(30, seconds),
          .conditions = {{"pass", identity(pass)}}};
}

}  // namespace

TEST_CASE("cases by frameworks, with ratios and their geometric mean") {
  Measurement ratio = pivot_time("Relu", "torch", 0.25);
  ratio.metric = "time_ratio";
  ratio.quantity = Quantity::ratio;
  Measurement doubtful = pivot_time("Conv", "torch", 8);
  mistrust(doubtful, "it drifts");
  Measurement none = pivot_time("Size", "torch", 1);
  none.samples.clear();
  none.status = Status::unsupported;
  none.reason = "no kernel";
  // 1/4 and 4: the geometric mean is 1.
  const auto table = pivot(
      {pivot_time("Relu", "reference", 1), pivot_time("Relu", "torch", 0.25), ratio,
       pivot_time("Conv", "reference", 2), doubtful, pivot_time("Size", "reference", 3), none},
      "framework");
  CHECK(table.to_text(Format::csv) ==
        "metric,subject,reference,torch,torch / reference\r\n"
        "time,Relu,1.00000 s,250.000 ms,0.250\r\n"
        "time,Conv,2.00000 s,8.00000 s*,4.00*\r\n"
        "time,Size,3.00000 s,unsupported,\r\n"
        "time,geometric mean,,,1.00 (2)*\r\n");
}

TEST_CASE("a metric's statistics are rows of their own, whatever order they come in") {
  const auto latency = [](const std::string& framework, double seconds, double quantile) {
    Measurement record = pivot_time("lenet", framework, seconds);
    record.metric = "latency";
    record.statistic.quantile = quantile;
    record.conditions["steady_from"] = finding(framework == "torch" ? "query 9" : "query 0");
    return record;
  };
  const auto table = pivot({latency("reference", 1, 0.5), latency("reference", 2, 0.99),
                            latency("torch", 6, 0.99), latency("torch", 2, 0.5)},
                           "framework");
  CHECK(table.to_text(Format::csv) ==
        "metric,subject,reference,torch,torch / reference\r\n"
        "latency median,lenet,1.00000 s,2.00000 s,2.00\r\n"
        "latency median,geometric mean,,,2.00 (1)\r\n"
        "latency p99,lenet,2.00 s,6.00 s,3.00\r\n"
        "latency p99,geometric mean,,,3.00 (1)\r\n");
}

TEST_CASE("what a star means, and what an absence, stands below") {
  Measurement few = pivot_time("Conv", "torch", 8), fewer = pivot_time("Relu", "torch", 8);
  mistrust(few, "10 samples, fewer than the 30 that a median needs");
  mistrust(fewer, "9 samples, fewer than the 30 that a median needs");
  Measurement none = pivot_time("Size", "torch", 1);
  none.samples.clear();
  none.status = Status::unsupported;
  none.reason = "no kernel";
  CHECK(pivot_notes({pivot_time("Relu", "reference", 1), none, few, fewer}) ==
        "* 9 to 10 samples, fewer than the 30 that a median needs\n"
        "unsupported: no kernel\n");
  CHECK(pivot_notes({pivot_time("Relu", "reference", 1)}).empty());
}

TEST_CASE(
    "what tells cases apart stands beside their names; each metric and pass has its own mean") {
  Measurement bytes = pivot_time("Relu", "torch", 8, "backward");
  bytes.metric = "peak_memory";
  bytes.quantity = Quantity::bytes;
  bytes.unit = "byte";
  const auto table = pivot(
      {pivot_time("Relu", "reference", 1), bytes, pivot_time("Relu", "reference", 2, "backward"),
       pivot_time("Relu", "torch", 1), pivot_time("Relu", "torch", 1, "backward")},
      "framework");
  CHECK(table.to_text(Format::csv) ==
        "metric,subject,pass,reference,torch,torch / reference\r\n"
        "time,Relu,forward,1.00000 s,1.00000 s,1.00\r\n"
        "time,geometric mean,forward,,,1.00 (1)\r\n"
        "time,Relu,backward,2.00000 s,1.00000 s,0.500\r\n"
        "time,geometric mean,backward,,,0.500 (1)\r\n"
        "peak_memory,Relu,backward,,8.00000 B,\r\n");
}

TEST_CASE("a condition is a column to pivot on as well; one that nobody has is not") {
  Measurement one = pivot_time("Relu", "torch", 2), two = pivot_time("Relu", "torch", 1);
  one.conditions["threads"] = identity(1);
  two.conditions["threads"] = identity(2);
  CHECK(pivot({one, two}, "threads").to_text(Format::csv) ==
        "metric,subject,1,2,2 / 1\r\n"
        "time,Relu,2.00000 s,1.00000 s,0.500\r\n"
        "time,geometric mean,,,0.500 (1)\r\n");
  CHECK_THROWS_WITH(pivot({one, two}, "treads"), Catch::Contains("did you mean threads"));
  CHECK_THROWS_AS(pivot({}, "framework"), NotFound);
}

TEST_CASE("a pivot's text has the notes and what the ratios say, for people alone") {
  Measurement few = pivot_time("Relu", "torch", 0.25);
  mistrust(few, "too few samples");
  const std::vector rows{pivot_time("Relu", "reference", 0.5), few};
  const std::string people = pivot_text(rows, "framework", Format::table);
  CHECK(people.find("\n\n* too few samples\n") != std::string::npos);
  const std::string programs = pivot_text(rows, "framework", Format::csv);
  CHECK(programs == pivot(rows, "framework").to_text(Format::csv));
  CHECK_THROWS_AS(pivot_text(rows, "framewrk", Format::table), NotFound);
}
