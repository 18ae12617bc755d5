// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/isolated_worker.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

/// A piece whose record says what `work` returned.
WorkPiece piece_of(const std::function<std::string()>& work) {
  WorkPiece piece;
  piece.record.subject = "a piece";
  piece.record.level = "operator";
  piece.run = [work, record = piece.record](const std::function<void()>& sampled) {
    sampled();
    Measurement told = record;
    told.subject = work();
    sampled();
    return std::vector{told};
  };
  return piece;
}

}  // namespace

TEST_CASE("pieces of one process find what those before left, and a crash takes it away") {
  int count = 0;
  std::vector<WorkPiece> pieces;
  pieces.push_back(piece_of([&] { return std::to_string(++count); }));
  pieces.push_back(piece_of([]() -> std::string {
    std::raise(SIGKILL);
    return {};
  }));
  pieces.push_back(piece_of([]() -> std::string { throw ValueError("it was asked to"); }));
  IsolatedWorker worker({.most_seconds = 100}, pieces);
  int sampled = 0;
  CHECK(worker.run(0, [&] { ++sampled; }).at(0).subject == "1");
  CHECK(sampled == 2);
  CHECK(worker.run(0).at(0).subject == "2");
  const Measurement thrown = worker.run(2).at(0);
  CHECK(thrown.status == Status::failed);
  CHECK_THAT(thrown.reason, Catch::Contains("it was asked to"));
  CHECK(worker.run(0).at(0).subject == "3");
  const Measurement crashed = worker.run(1).at(0);
  CHECK(crashed.status == Status::failed);
  CHECK(crashed.subject == "a piece");
  CHECK_THAT(crashed.reason, Catch::Contains("SIGKILL"));
  CHECK(worker.run(0).at(0).subject == "1");
  CHECK(count == 0);
}

TEST_CASE("a piece that takes too long is ended") {
  std::vector<WorkPiece> pieces;
  pieces.push_back(piece_of([]() -> std::string {
    for (;;) pause();
  }));
  IsolatedWorker worker({.most_seconds = 0.2}, pieces);
  CHECK_THAT(worker.run(0).at(0).reason, Catch::Contains("no answer within 0.2 s"));
}

TEST_CASE("a process of its own has a time") {
  CHECK_THROWS_AS(IsolatedWorker({}, {}), ValueError);
}
