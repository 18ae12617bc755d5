// SPDX-License-Identifier: Apache-2.0
#include "core/files/sha256.hpp"

#include <catch2/catch.hpp>

using d5::detail::sha256;

// FIPS 180-4's examples, and the sum of nothing.
TEST_CASE("SHA-256 gives the standard's sums") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("pieces have the sum of the whole") {
  CHECK(d5::detail::Sha256().add("a").add("").add("bc").digest() == sha256("abc"));
}
