// SPDX-License-Identifier: Apache-2.0
#include "d5/core/atomic_file.hpp"
#include "tests/apps/background_run.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::run_d5;

TEST_CASE("tokens are made, listed and taken back, and shown once") {
  const testing::TemporaryFolder folder;
  const std::string file = " --tokens " + (folder / "tokens.json");
  const auto made = run_d5("token add --role run ci" + file);
  REQUIRE(made.status == 0);
  CHECK(made.out.size() == 65);  // 64 digits and the line's end
  CHECK_THAT(read_file(folder / "tokens.json"), !Contains(made.out.substr(0, 64)));
  CHECK_THAT(run_d5("token list --format csv" + file).out, Contains("ci,run,"));
  const auto wrong = run_d5("token add --role rum other" + file);
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("did you mean run?"));
  CHECK(run_d5("token remove ci" + file).status == 0);
  CHECK_THAT(run_d5("token list --format csv" + file).out, !Contains("ci,"));
}

TEST_CASE("a server that others reach without tokens does not begin") {
  const testing::TemporaryFolder folder;
  const std::string database = " --database " + (folder / "results.db");
  const auto open = run_d5("serve --bind 0.0.0.0:0" + database);
  CHECK(open.status == 2);
  CHECK(open.out.empty());
  CHECK_THAT(open.err, Contains("d5 token add") && Contains("TLS"));
  CHECK_THAT(run_d5("serve --bind 8500" + database).err, Contains("expected HOST:PORT"));
}

TEST_CASE("a server that is not there is said so") {
  const auto list = run_d5("job list --server 127.0.0.1:9");
  CHECK(list.status == 2);
  CHECK_THAT(list.err, Contains("is 'd5 serve' running there?"));
  CHECK_THAT(run_d5("job list --server gopher://x").err, Contains("expected http://HOST:PORT"));
  CHECK_THAT(run_d5("eval run lenet --locked x.json --server 127.0.0.1:9").err,
             Contains("leave out --server"));
}

}  // namespace
}  // namespace d5
