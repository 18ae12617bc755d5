// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

// Catch's own main exits with the number of failures; four of them would read as "skipped".
int main(int argc, char** argv) { return Catch::Session().run(argc, argv) == 0 ? 0 : 1; }
