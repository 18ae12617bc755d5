// SPDX-License-Identifier: Apache-2.0
#include "d5/core/numbers/byte_count.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using d5::byte_count;
using d5::byte_words;

TEST_CASE("sizes are read in powers of 1024, of 1000, and in bytes") {
  CHECK(byte_count("512MiB") == 536870912);
  CHECK(byte_count("1.5 GiB") == 1610612736);
  CHECK(byte_count("2GB") == 2000000000);
  CHECK(byte_count("3kB") == 3000);
  CHECK(byte_count("4096") == 4096);
  CHECK(byte_count("0.5KiB") == 512);
}

TEST_CASE("a malformed size is refused with an example of one") {
  for (const char* words : {"", "MiB", "-1", "0", "1e9", "512 mib", "12 MiB x", "nan", "9e99TB",
                            "10000000TiB", "0x10"}) {
    INFO(words);
    CHECK_THROWS_WITH(byte_count(words), Catch::Contains("512MiB"));
    CHECK_THROWS_AS(byte_count(words), d5::ValueError);
  }
}

TEST_CASE("a size is written as the largest unit that divides it, and read back") {
  CHECK(byte_words(536870912) == "512MiB");
  CHECK(byte_words(1000) == "1000B");
  CHECK(byte_words(0) == "0B");
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{123456789}}) {
    CHECK(byte_count(byte_words(bytes)) == bytes);
  }
}
