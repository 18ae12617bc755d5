// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <regex>

#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "tests/approved.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::write_relu_folder;
using testing::TemporaryFolder;

TEST_CASE("op check checks forward and gradient, and every record tells how to run it again") {
  const TemporaryFolder folder;
  const auto run = run_d5("op check Tanh 2x3 --out " + (folder / "results.json"));
  CHECK(run.status == 0);
  const Results results = read_results(folder / "results.json");
  CHECK(results.measurements.size() >= 2);
  for (const auto& m : results.measurements) {
    CHECK(m.subject == "Tanh 2x3");
    CHECK_THAT(m.command, Catch::StartsWith("d5 op check 'Tanh 2x3'"));
    CHECK(m.status != Status::failed);
  }
}

/// A framework that has no operators.
const std::string kLacking = std::string(" --framework ") + D5_PARTS;

TEST_CASE("an operator that a framework lacks is unsupported, which passes where it is allowed") {
  const std::string check = "op check 'Relu 3'" + kLacking;
  const auto run = run_d5(check);
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("unsupported") && Contains("operator Relu"));
  CHECK(run_d5(check + " --allow-unsupported").status == 0);
}

TEST_CASE("a network that cannot run is unsupported, and no bad usage") {
  const TemporaryFolder folder;
  Network network("rectifier");
  network.add_input("x", DType::float32, {std::int64_t{4}});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  network.save(folder / "relu.onnx");
  const std::string file = folder / "relu.onnx" + kLacking;
  const auto run = run_d5("net run " + file);
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("operator Relu"));
  CHECK(run_d5("net check " + file).status == 1);
  CHECK(run_d5("net check --allow-unsupported " + file).status == 0);
}

TEST_CASE("an operator without gradients has none that could be missing") {
  const auto check = run_d5("op check 'Equal 2 2'");
  CHECK(check.status == 0);
  CHECK_THAT(check.out, Contains("no input is differentiable"));
  const auto bench = run_d5("op bench 'Equal 2 2' --samples 2");
  CHECK(bench.status == 0);
  CHECK_THAT(bench.out, !Contains("backward"));
  CHECK(run_d5("op bench 'Equal 2 2' --samples 2 --pass backward").status == 1);
}

TEST_CASE("cases come from files as well") {
  const TemporaryFolder folder;
  testing::write(folder / "cases.txt", "# two cases\nRelu 4\n\nSigmoid 2x2\n");
  const auto run = run_d5("op check --no-gradient " + (folder / "cases.txt"));
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("Relu 4") && Contains("Sigmoid 2x2"));
}

TEST_CASE("a case with ranges is several, each with its own line, and nothing to compare") {
  const auto run = run_d5("op bench 'Relu {n}x3 for n=8,16..64*2' --list --format csv");
  CHECK(run.status == 0);
  CHECK(run.out == "name\r\nRelu 8x3\r\nRelu 16x3\r\nRelu 32x3\r\nRelu 64x3\r\n");
  const auto pair = run_d5("compare 'Relu {n} for n=1,2' 'Relu 2'");
  CHECK(pair.status == 2);
  CHECK_THAT(pair.err, Contains("is 2 cases, expected one"));
}

TEST_CASE("op bench prints time, interval and FLOP/s") {
  const auto run = run_d5("op bench 'Gemm 8x4 4x2' --samples 30 --quiet");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  const auto rows = run.out.find("\n\n");  // what all have in common stands above: this machine's
  REQUIRE(rows != std::string::npos);
  CHECK_THAT(run.out, Catch::StartsWith("subject Gemm 8x4 4x2; framework reference; device cpu;"));
  // Numbers and intervals change; their places and units do not.
  std::string masked = std::regex_replace(run.out.substr(rows + 2),
                                          std::regex("mistrusted \\[[0-9,]+\\]|passed"), "S");
  masked = std::regex_replace(masked, std::regex(R"(\[[0-9., e+-]+[0-9]\])"), "[I]");
  masked = std::regex_replace(
      masked,
      std::regex(R"([0-9]+(\.[0-9]+)?(e[+-][0-9]+)? +(ns|us|µs|ms|s|[kMG]?flop/s|[kMG]?B/s))"),
      "T");
  masked = masked.substr(
      0, masked.find("\n\n") == std::string::npos ? masked.size() : masked.find("\n\n") + 1);
  masked = std::regex_replace(masked, std::regex(" +"), " ");
  masked = std::regex_replace(masked, std::regex("-+"), "-");
  check_approved("apps/op_bench.approved.txt", masked);
}

TEST_CASE("op bench measures what --metrics names, in the format that --format names") {
  const auto run =
      run_d5("op bench 'Relu 8' --pass forward --samples 3 --metrics cpu_time --format json");
  CHECK(run.status == 0);
  const auto results = nlohmann::json::parse(run.out);
  std::vector<std::string> metrics;
  for (const auto& m : results.at("measurements")) metrics.push_back(m.at("metric"));
  CHECK(std::ranges::count(metrics, "time") == 1);
  CHECK(std::ranges::count(metrics, "cpu_time") == 1);
  CHECK(results.at("measurements").at(0).at("samples").size() == 3);
  CHECK(results.at("measurements").at(0).at("status") == "mistrusted");  // 3 samples are too few
  CHECK_THAT(run_d5("op bench 'Relu 8' --pass forward --samples 3 --format csv").out,
             Catch::StartsWith("subject,"));
}

TEST_CASE("net check passes on what a folder expects, and fails on a changed output") {
  const TemporaryFolder right, wrong;
  write_relu_folder(right / "", {0, 2});
  write_relu_folder(wrong / "", {0, 2.5});
  CHECK(run_d5("net check " + (right / "")).status == 0);
  const auto run = run_d5("net check " + (wrong / ""));
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("failed") && Contains("2.5"));
}

TEST_CASE("net check holds gradients against finite differences, with rules that records hold") {
  const auto run = run_d5("net check lenet --numeric 2 --place Conv=reference --format csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("finite differences in float64") && Contains("2 of 48000"));
  CHECK_THAT(run.out, Contains("--numeric 2") && Contains("Conv=reference"));
}

TEST_CASE("net run prints the outputs of a file, and of a folder's own inputs") {
  const TemporaryFolder folder;
  write_relu_folder(folder / "", {0, 2});
  const auto run = run_d5("net run " + (folder / "") + " --format json");
  CHECK(run.status == 0);
  const auto rows = nlohmann::json::parse(run.out);
  CHECK(rows.at(0).at("output") == "y");
  CHECK(rows.at(0).at("what") == "float32 2");
  CHECK_THAT(rows.at(0).at("first values").get<std::string>(), Contains("0") && Contains("2"));
  CHECK(run_d5("net run " + (folder / "model.onnx")).status == 0);
}

TEST_CASE("net bench times inference and training, and what the executor adds") {
  const auto run = run_d5("net bench lenet --batch 2 --samples 5 --training --format json");
  CHECK(run.status == 0);
  const auto results = nlohmann::json::parse(run.out);
  int times = 0, overheads = 0;
  for (const auto& m : results.at("measurements")) {
    times += m.at("metric") == "time" ? 1 : 0;
    overheads += m.at("metric") == "framework_overhead" ? 1 : 0;
  }
  CHECK(times == 2);
  CHECK(overheads == 2);
}

TEST_CASE("net bench tells people which operator costs most, and machines all of it") {
  const TemporaryFolder folder;
  const std::string command = "net bench lenet --profile --training --samples 3 --trace " +
                              (folder / "trace.json") + " --out " + (folder / "out.json");
  const auto run = run_d5(command);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("unobserved") && Contains("MaxPool") && Contains("conv1") &&
                          Contains("backward") && Contains("Gflop/s"));
  CHECK(std::filesystem::file_size(folder / "trace.json") > 0);
  bool by_node = false;
  for (const auto& m : read_results(folder / "out.json").measurements) {
    CHECK(m.subject == "lenet");
    CHECK_THAT(m.command, Contains(" --profile"));
    const auto node = m.conditions.find("node");
    by_node = by_node || (node != m.conditions.end() && node->second == "conv1");
  }
  CHECK(by_node);
}

TEST_CASE("op check judges by a tolerance, and the reference by float64, where asked to") {
  CHECK(run_d5("op check 'Exp 100' --no-gradient --exact").status == 0);
  CHECK(run_d5("op check 'Gemm 8x300 300x8' --no-gradient --exact --rtol 0").status == 1);
  CHECK(run_d5("op check 'Gemm 8x300~4 300x8~4' --no-gradient --exact --rtol 0").status == 0);
}

TEST_CASE("net check takes a tolerance in place of its own, and runs it again with it") {
  const TemporaryFolder folder;
  write_relu_folder(folder / "", {0, 2.001F});
  CHECK(run_d5("net check " + (folder / "")).status == 0);  // ONNX's own relative 1e-3
  CHECK(run_d5("net check " + (folder / "") + " --rtol 1e-4").status == 1);
  const auto run = run_d5("net check " + (folder / "") + " --atol 0.01 --format json");
  CHECK(run.status == 0);
  const auto record = nlohmann::json::parse(run.out).at("measurements").at(0);
  CHECK(record.at("conditions").at("setting").at("tolerance") == "rtol 0, atol 0.01");
  CHECK_THAT(record.at("command").get<std::string>(), Contains("--atol 0.01"));
  CHECK(record.at("subject") ==
        std::filesystem::path(folder / "model.onnx").parent_path().filename().string());
}

TEST_CASE("a picture of nothing is an error that loses no measurement") {
  const auto run = run_d5("net bench lenet --batch 1 --samples 2 --threads 1 --quiet --format svg");
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains("framework_overhead") && Contains("nothing to plot"));
}

TEST_CASE("--format gbench prints what Google Benchmark would") {
  const auto run = run_d5("op bench 'Relu 64' --pass forward --samples 5 --quiet --format gbench");
  CHECK(run.status == 0);
  const auto file = nlohmann::json::parse(run.out);
  CHECK(file.at("context").contains("host_name"));
  REQUIRE(file.at("benchmarks").size() == 5 + 4);
  CHECK(file.at("benchmarks").at(0).at("name") == "Relu 64/reference");
}
