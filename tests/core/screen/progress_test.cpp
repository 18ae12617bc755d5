// SPDX-License-Identifier: Apache-2.0
#include "d5/core/screen/progress.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace d5;

namespace {

/// The content of a temporary file, which is closed.
std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

/// The output of work that advances once per `seconds` of a fake clock.
std::string printed(bool terminal, double seconds, int steps, std::int64_t total,
                    const std::string& note = "") {
  std::FILE* file = std::tmpfile();
  double now = 100;
  {
    Progress progress(
        "epoch 1", total,
        {.unit = "batches", .stream = file, .terminal = terminal, .clock = [&] { return now; }});
    progress.note(note);
    for (int i = 0; i < steps; ++i) {
      now += seconds;
      progress.advance();
    }
  }
  return content_of(file);
}

}  // namespace

TEST_CASE("a terminal sees one line with rate and remaining time, removed at the end") {
  CHECK(printed(true, 0.5, 2, 250) ==
        "\r\x1b[Kepoch 1: 1/250 batches, 2/s, 2 min 05 s left"
        "\r\x1b[Kepoch 1: 2/250 batches, 2/s, 2 min 04 s left"
        "\r\x1b[K");
}

TEST_CASE("a line is shorter than the terminal is wide, so that it does not scroll") {
  const char* before = std::getenv("COLUMNS");
  const std::string kept = before ? before : "";
  setenv("COLUMNS", "40", 1);
  const std::string text = printed(true, 0.5, 1, 250, "loss 0.31, accuracy 0.52, a long note");
  before ? setenv("COLUMNS", kept.c_str(), 1) : unsetenv("COLUMNS");
  CHECK(text == "\r\x1b[Kepoch 1: 1/250 batches, 2/s, 2 min 05 s\r\x1b[K");
}

TEST_CASE("a log gets a line each ten seconds") {
  CHECK(printed(false, 4, 6, 2000, "loss 0.3") ==
        "epoch 1: 3/2000 batches, 0.25/s, 2 h 13 min left, loss 0.3\n"
        "epoch 1: 6/2000 batches, 0.25/s, 2 h 12 min left, loss 0.3\n");
}

TEST_CASE("short work says nothing in a log") { CHECK(printed(false, 1, 9, 9) == ""); }

TEST_CASE("work of unknown length has a rate but no end") {
  CHECK(printed(false, 10, 1, 0) == "epoch 1: 1 batches, 0.1/s\n");
}

TEST_CASE("control characters do not reach the terminal") {
  CHECK(printed(false, 10, 1, 1, "\x1b[2J") == "epoch 1: 1/1 batches, 0.1/s, \\x1b[2J\n");
}

TEST_CASE("the line is taken away for others to print, and comes again") {
  std::FILE* file = std::tmpfile();
  double now = 0;
  {
    Progress progress(
        "op bench", 4,
        {.unit = "samples", .stream = file, .terminal = true, .clock = [&] { return now; }});
    progress.hide();  // there is none yet
    now = 1;
    progress.advance();
    progress.hide();
    std::fputs("a row\n", file);
    now = 2;
    progress.advance();
  }
  CHECK(content_of(file) ==
        "\r\x1b[Kop bench: 1/4 samples, 1/s, 3 s left"
        "\r\x1b[Ka row\n"
        "\r\x1b[Kop bench: 2/4 samples, 1/s, 2 s left"
        "\r\x1b[K");
}

TEST_CASE("what a piece's time leaves out is not waited for, and what is left is of all pieces") {
  std::FILE* file = std::tmpfile();
  double now = 0;
  {
    Progress progress(
        "op bench", 400,
        {.unit = "samples", .stream = file, .terminal = false, .clock = [&] { return now; }});
    const auto advance_at = [&](double time, int count) {
      now = time;
      progress.advance(count);
    };
    progress.begin_piece(100, 40);
    advance_at(10, 5);    // a quarter of its time: 25 of 100, 375 of 400 are left
    advance_at(50, 5);    // it samples no more, and is not over: all of its 100
    advance_at(100, 90);  // its end: 100 s a piece
    progress.begin_piece(100, 40);
    advance_at(120, 0);    // half its time: 150 in 120 s
    advance_at(130, 100);  // the next is faster: 200 in 130 s
    progress.begin_piece(100, 40);
    advance_at(141, 80);  // by its samples it is further than by its time: 280 in 141 s
  }
  CHECK(content_of(file) ==
        "op bench: 5/400 samples, 0.5/s, 2 min 30 s left\n"
        "op bench: 10/400 samples, 0.2/s, 2 min 30 s left\n"
        "op bench: 100/400 samples, 1/s, 5 min 00 s left\n"
        "op bench: 100/400 samples, 0.833/s, 3 min 20 s left\n"
        "op bench: 200/400 samples, 1.54/s, 2 min 10 s left\n"
        "op bench: 280/400 samples, 1.99/s, 1 min 00 s left\n");
}

TEST_CASE("a single piece takes no longer than its time") {
  std::FILE* file = std::tmpfile();
  double now = 0;
  {
    Progress progress(
        "op bench", 1000,
        {.unit = "samples", .stream = file, .terminal = false, .clock = [&] { return now; }});
    progress.begin_piece(1000, 60);
    now = 20;
    progress.advance(10);
  }
  CHECK(content_of(file) == "op bench: 10/1000 samples, 0.5/s, 40 s left\n");
}

TEST_CASE("quiet means quiet") {
  Progress::set_quiet(true);
  CHECK(printed(true, 1, 5, 5) == "");
  CHECK(printed(false, 20, 5, 5) == "");
  Progress::set_quiet(false);
}
