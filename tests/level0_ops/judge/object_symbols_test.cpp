// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/object_symbols.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level0_ops/operator/build_operators.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using detail::is_of_library;

namespace {

constexpr const char* kSource = R"(
extern "C" int from_elsewhere(int) __attribute__((weak));
extern "C" __attribute__((noinline)) int linked_in(int x) { return x + 1; }
static __attribute__((noinline)) int own(int x) { return x + 2; }
__attribute__((visibility("default"))) int all(int x) {
  return (from_elsewhere ? from_elsewhere(x) : 0) + linked_in(x) + own(x);
}
)";

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

TEST_CASE("symbols that an object takes and has are distinguished, hidden ones too") {
  const auto symbols = detail::symbols_of(build_operators(kSource));
  CHECK(has(symbols.undefined, "from_elsewhere"));
  CHECK(has(symbols.defined, "linked_in"));
  CHECK_FALSE(has(symbols.undefined, "linked_in"));
  CHECK_FALSE(symbols.stripped);
  setenv("CXXFLAGS", "-s", 1);
  const auto few = detail::symbols_of(build_operators(kSource));
  unsetenv("CXXFLAGS");
  CHECK(few.stripped);
  CHECK(has(few.undefined, "from_elsewhere"));
  CHECK_FALSE(has(few.defined, "linked_in"));
}

TEST_CASE("a damaged object is refused at every length") {
  const testing::TemporaryFolder folder;
  const std::string whole = read_file(build_operators(kSource));
  for (std::size_t length = 0; length < whole.size() / 2; length += 97) {
    write_file(folder / "cut.so", whole.substr(0, length));
    CHECK_THROWS_AS(detail::symbols_of(folder / "cut.so"), FormatError);
  }
  write_file(folder / "text.so", std::string(200, 'x'));
  CHECK_THROWS_AS(detail::symbols_of(folder / "text.so"), FormatError);
}

TEST_CASE("a symbol is of a library by a part of its name, and of BLAS by its routines") {
  CHECK(is_of_library("openblas_get_config", "blas"));
  for (const char* routine : {"sgemm_", "cblas_dgemv", "zherk_", "sgemm_64_", "cblas_sgemm_64"}) {
    CAPTURE(routine);
    CHECK(is_of_library(routine, "blas"));
  }
  // Names of one's own.
  for (const char* other : {"sgemm", "_ZL5sgemmPKfS0_Pf", "sgemm_tile", "memcpy", "gemm_", "s_"}) {
    CAPTURE(other);
    CHECK_FALSE(is_of_library(other, "blas"));
  }
  CHECK_FALSE(is_of_library("sgemm_", "torch"));
}
