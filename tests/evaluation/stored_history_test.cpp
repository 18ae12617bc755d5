// SPDX-License-Identifier: Apache-2.0
// A database's records over time, a part at a time.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/analysis/result_history.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"

using namespace d5;
using testing::AnyDatabase;
using testing::on_each_database;

namespace {

Measurement measured(const std::string& subject, double seconds) {
  Measurement record;
  record.subject = subject;
  record.framework = "torch";
  record.metric = "latency";
  record.unit = "s";
  record.quantity = Quantity::time;
  record.direction = Direction::lower_is_better;
  record.samples = {seconds};
  return record;
}

/// "r" for one that was better than all before, "b" for the best, by the number that it has.
std::string marks(const std::vector<HistoryEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += fmt::format("{}{} ", entry.stored.estimate.value,
                        entry.is_best     ? "b"
                        : entry.is_record ? "r"
                                          : "");
  }
  return text;
}

}  // namespace

TEST_CASE("a part of a history knows what came before and after it") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    const std::vector<double> seconds = {5, 6, 4, 3, 7, 8};
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      EvaluationRun run;
      run.id = fmt::format("run.{}", 9 - i);  // not in the order of time
      run.environment = testing::an_environment();
      run.environment.time = fmt::format("2026-11-0{}T00:00:00Z", 1 + i);
      database->evaluation(run);
      const std::vector<Measurement> records = {
          measured(fmt::format("lenet@1.{}.0", i), seconds[i]), measured("lenet2@1.0.0", 1),
          measured("le_net", 1)};
      database->measurements(run.id, "p", records);
    }
    const RecordFilter filter{.model = "lenet"};
    using From = HistoryPart::From;
    const auto all = stored_history(*database, filter);
    CHECK(all.all == 6);
    CHECK(marks(all.entries) == "5r 6 4r 3b 7 8 ");
    CHECK(marks(stored_history(*database, filter, {.skipped = 1, .limit = 3}).entries) ==
          "6 4r 3b ");
    CHECK(marks(stored_history(*database, filter, {.skipped = 4}).entries) == "7 8 ");
    const auto newest = stored_history(*database, filter, {.from = From::newest, .limit = 4});
    CHECK(marks(newest.entries) == "4r 3b 7 8 ");
    CHECK(newest.all == 6);
    CHECK(marks(stored_history(*database, filter, {.from = From::newest, .skipped = 1, .limit = 2})
                    .entries) == "3b 7 ");
    CHECK(stored_history(*database, filter, {.skipped = 6}).entries.empty());
    CHECK(stored_history(*database, {.model = "le_net"}).all == 6);
    CHECK(stored_history(*database, {.model = "le*"}).all == 0);  // a name, no pattern

    // The same a page at a time, whose marks are those of the whole.
    for (const std::size_t limit : {1, 2, 4, 6, 7}) {
      std::string pages;
      PageAsked asked{.from = "", .limit = limit};
      do {
        const auto page = history_page(*database, filter, asked);
        CHECK(page.items.size() <= limit);
        pages += marks(page.items);
        asked.from = page.next;
      } while (!asked.from.empty());
      CHECK(pages == marks(all.entries));
    }
    CHECK_THROWS_AS(history_page(*database, filter, {"0.1", 2}), ValueError);

    // The records of several runs, a page at a time.
    std::string values;
    PageAsked asked{.from = "", .limit = 4};
    do {
      const auto page = database->measurements(filter, EvaluationDatabase::Samples::without, asked);
      CHECK(page.items.size() <= asked.limit);
      for (const auto& one : page.items) values += fmt::format("{} ", one.estimate.value);
      asked.from = page.next;
    } while (!asked.from.empty());
    CHECK(values == "5 6 4 3 7 8 ");
    for (const char* nowhere : {"0.1", ".0.1", "run.0.0.1", "run.4.x.1"}) {
      CHECK_THROWS_AS(
          database->measurements(filter, EvaluationDatabase::Samples::without, {nowhere, 2}),
          ValueError);
    }
  });
}
