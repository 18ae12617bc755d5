// SPDX-License-Identifier: Apache-2.0
// Lists of a database, a page at a time.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "tests/evaluation/any_database.hpp"
#include "tests/evaluation/sample_run.hpp"

using namespace d5;
using testing::a_latency;
using testing::a_run;
using testing::AnyDatabase;
using testing::on_each_database;
using testing::some_queries;

namespace {

/// All pages of a list, one after the other, none larger than `limit`.
template <class Ask>
auto all_pages(std::size_t limit, const Ask& ask) {
  auto page = ask(PageAsked{"", limit});
  auto items = page.items;
  while (!page.next.empty()) {
    CHECK(page.items.size() == limit);
    page = ask(PageAsked{page.next, limit});
    items.insert(items.end(), page.items.begin(), page.items.end());
  }
  return items;
}

}  // namespace

TEST_CASE("lists come in pages that are together the whole, and a page reads its own part alone") {
  on_each_database([](const AnyDatabase& any) {
    const auto database = any.open();
    const std::string run = a_run().id;
    for (const char* id : {"2", "1", "3"}) database->evaluation(a_run(id));
    database->evaluation(a_run());
    const auto queries = some_queries(300'000);
    database->queries(run, "cell", queries);
    std::vector<SampleAnswer> answers;
    for (std::int64_t i = 0; i < 50; ++i) answers.push_back({i, "cat", i % 7 == 0 ? 0. : 1.});
    answers.push_back({50, "no measure", std::nan("")});
    database->answers(run, "cell", answers);
    for (const char* piece : {"b", "a"}) {
      const std::vector<Measurement> records = {a_latency("x", "torch", 1),
                                                a_latency("y", "torch", 1)};
      database->measurements(run, piece, records);
    }
    const auto page = [&](std::size_t limit) {
      return all_pages(limit, [&](auto asked) { return database->queries(run, "cell", asked); });
    };
    CHECK(page(70'000) == queries);  // more than a block
    CHECK(page(300'000) == queries);
    const auto at = database->queries(run, "cell", {"131070", 4});  // over the end of a block
    CHECK(at.items == std::vector(queries.begin() + 131'070, queries.begin() + 131'074));
    CHECK(at.next == "131074");
    CHECK(database->queries(run, "cell", {"400000", 4}).items.empty());

    using Answers = EvaluationDatabase::Answers;
    CHECK(all_pages(10, [&](auto asked) {
            return database->answers(run, "cell", Answers::all, asked);
          }).size() == 51);
    const auto wrong = all_pages(
        3, [&](auto asked) { return database->answers(run, "cell", Answers::wrong, asked); });
    REQUIRE(wrong.size() == 8);
    for (std::int64_t i = 0; i < 8; ++i) CHECK(wrong[std::size_t(i)].sample == 7 * i);

    std::string order;
    for (const auto& one : all_pages(3, [&](auto asked) {
           return database->measurements({.run = run}, EvaluationDatabase::Samples::without, asked);
         })) {
      order += one.piece + one.record.subject;
    }
    CHECK(order == "bxbyaxay");

    std::string ids;
    for (const auto& one : all_pages(2, [&](auto asked) { return database->runs({}, asked); })) {
      ids += one.id.substr(0, 1);
    }
    CHECK(ids == "0123");  // equal times: in the order of ids
    CHECK_THROWS_AS(database->runs({}, {"none", 2}), ValueError);
    CHECK_THROWS_AS(database->queries(run, "cell", {"-1", 2}), ValueError);
  });
}
