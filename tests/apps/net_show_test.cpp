// SPDX-License-Identifier: Apache-2.0
// Commands that show or convert networks without measuring.
#include <nlohmann/json.hpp>

#include "tests/apps/program_run.hpp"
#include "tests/test_folder.hpp"

using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::TemporaryFolder;
using d5::testing::write_relu_folder;

TEST_CASE("net show --steps tells where an executor runs each node") {
  const auto run = run_d5("net show lenet --steps --place Conv=reference --threads 1 --format csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("0,conv1,Conv,forward,reference,cpu,rows"));
}

TEST_CASE("net show tells beside a framework what the mixture, or a mix, of them can run") {
  const auto run = run_d5("net show lenet --framework reference,auto,reference+auto --format csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains(",reference,auto,reference+auto"));
  CHECK_THAT(run.out, Contains(",yes,yes,yes"));
}

TEST_CASE("net show tells nodes and parameters of a built-in network") {
  const auto run = run_d5("net show lenet");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("61706 elements"));
  CHECK_THAT(run.out, Contains("Conv ") && Contains("MaxPool ") && Contains("Gemm "));
  CHECK_THAT(run.out, Contains("float32 Nx16x10x10") && !Contains("unknown"));
  const auto operators = run_d5("net show lenet --batch 2 --by operator --format json");
  const auto rows = nlohmann::json::parse(operators.out);
  CHECK(rows.at(0).at("operator") == "Conv");
  // Two products a weight and place, and a bias, for 6 and 16 planes of 28x28 and 10x10.
  CHECK(rows.at(0).at("FLOP") == "1443008");
  CHECK(rows.back().at("parameters") == "61706");
}

TEST_CASE("net show draws the graph, and the memory plan where it is asked for") {
  CHECK_THAT(run_d5("net show lenet --format dot").out, Catch::StartsWith("digraph \"lenet\""));
  CHECK_THAT(run_d5("net show lenet --format svg").out, Contains(">conv1</text>"));
  CHECK_THAT(run_d5("net show lenet --memory-plan --format svg").out, Contains("Memory plan"));
}

TEST_CASE("net save writes a network, changed or not, that is opened again") {
  const TemporaryFolder folder;
  const std::string file = folder / "small.onnx";
  CHECK(run_d5("net save lenet " + file + " --seed 3 --external-data").status == 0);
  CHECK(!d5::testing::content_of(file + ".data").empty());
  CHECK(run_d5("net check " + file).status == 0);
  CHECK_THAT(run_d5("net run " + file).out, Contains("float32 1x10"));
  CHECK(run_d5("net save " + file + " " + file + " --transform half-precision").status == 0);
  CHECK_THAT(run_d5("net show " + file).out, Contains("float16"));
}

TEST_CASE("a transformed network is held against the original, and records say so") {
  const std::string chain = " --transform remove-dropout,constant-folding:most_bytes=8";
  const auto run = run_d5("net check lenet --format json" + chain);
  CHECK(run.status == 0);
  const auto records = nlohmann::json::parse(run.out).at("measurements");
  CHECK(records.at(0).at("status") == "passed");  // the original in the reference is its judge
  CHECK(records.at(0).at("conditions").at("identity").at("transform") ==
        "remove-dropout,constant-folding:most_bytes=8");
  CHECK_THAT(records.at(0).at("command").get<std::string>(), Contains(chain));
  const auto bench = run_d5("net bench lenet --samples 3 --format json" + chain);
  CHECK_THAT(
      nlohmann::json::parse(bench.out).at("measurements").at(0).at("command").get<std::string>(),
      Contains(chain));

  const TemporaryFolder folder;
  write_relu_folder(folder / "case", {0, 2});
  CHECK(run_d5("net check " + (folder / "case") + " --transform common-subexpressions").status ==
        0);
  CHECK_THAT(run_d5("net show lenet --transform dead-code").out,
             Contains("dead-code") && Contains("nothing to change"));
  CHECK_THAT(run_d5("net run lenet --transform half-precision").out, Contains("float32 1x10"));
}
