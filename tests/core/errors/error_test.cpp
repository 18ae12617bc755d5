// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"

#include <catch2/catch.hpp>

using namespace d5;

TEST_CASE("control characters, quotes and backslashes are escaped") {
  CHECK(printable("plain name") == "plain name");
  CHECK(printable("a\x1b[2Jb\n") == "a\\x1b[2Jb\\x0a");
  CHECK(printable("it's") == "it\\'s");
  CHECK(printable("a\\b") == "a\\\\b");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("UTF-8 is kept, but not what only looks like it") {
  CHECK(printable("Zürich") == "Zürich");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc0\x80") == "\\xc0\\x80");           // an overlong zero
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");           // a cut character
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half of a surrogate pair
}

TEST_CASE("control characters beyond ASCII and direction marks are escaped") {
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\xc2\\x9b2J");  // the one-character form of ESC [
  CHECK(printable("a\xe2\x80\xae"
                  "b") == "a\\xe2\\x80\\xaeb");                        // right-to-left override
  CHECK(printable("a\xd8\x9cz") == "a\\xd8\\x9cz");                    // Arabic letter mark
  CHECK(printable_message("a\xe2\x80\x8bz") == "a\\xe2\\x80\\x8bz");   // a space without width
  CHECK(printable("\xd8\xa7\xe2\x82\xac") == "\xd8\xa7\xe2\x82\xac");  // letters stay
}

TEST_CASE("a long name is cut") {
  const std::string cut = printable(std::string(1000, 'x'));
  CHECK(cut == std::string(200, 'x') + "...");
}

TEST_CASE("every typed error is an Error") {
  CHECK_THROWS_AS([] { throw ShapeError("s"); }(), Error);
  CHECK_THROWS_AS([] { throw MemoryError("m"); }(), std::runtime_error);
}

TEST_CASE("a whole message keeps its quotes and loses what a terminal would obey") {
  CHECK(printable_message("Gemm 'fc1': A is 3x4\x1b[2J") == "Gemm 'fc1': A is 3x4\\x1b[2J");
  CHECK(printable_message(std::string(1000, 'a')).size() == 1000);
}
