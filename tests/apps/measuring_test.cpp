// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <regex>

#include "d5/core/results.hpp"
#include "d5/level1_network/network.hpp"
#include "tests/approved.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::write_relu_folder;
using testing::TemporaryFolder;

namespace {

Measurement timed(const std::string& framework, std::vector<double> samples) {
  return {.subject = "Gemm 8x8 8x8",
          .level = "operator",
          .framework = framework,
          .metric = "time",
          .unit = "s",
          .quantity = Quantity::time,
          .samples = std::move(samples)};
}

/// 40 samples around `center`, spread by 1%.
std::vector<double> around(double center) {
  std::vector<double> samples;
  for (int i = 0; i < 40; ++i) samples.push_back(center * (1 + 0.01 * ((i * 7) % 40 - 20) / 20));
  return samples;
}

}  // namespace

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
  std::string masked =
      std::regex_replace(run.out.substr(rows + 2), std::regex(R"(\[[0-9., e+-]+[0-9]\])"), "[I]");
  masked = std::regex_replace(
      masked,
      std::regex(R"([0-9]+(\.[0-9]+)?(e[+-][0-9]+)? +(ns|us|µs|ms|s|[kMG]?flop/s|[kMG]?B/s))"),
      "T");
  masked = std::regex_replace(masked, std::regex("mistrusted \\[[0-9,]+\\]|passed"), "S");
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

TEST_CASE("net show --steps tells where an executor runs each node") {
  const auto run = run_d5("net show lenet --steps --place Conv=reference --format csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("0,conv1,Conv,forward,reference,cpu,rows"));
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
  CHECK(records.at(0).at("conditions").at("transform") ==
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
  CHECK(record.at("conditions").at("tolerance") == "rtol 0, atol 0.01");
  CHECK_THAT(record.at("command").get<std::string>(), Contains("--atol 0.01"));
  CHECK(record.at("subject") ==
        std::filesystem::path(folder / "model.onnx").parent_path().filename().string());
}

TEST_CASE("compare finds the ratio of two results files, and fails above a limit") {
  const TemporaryFolder folder;
  write_results({environment(), {timed("reference", around(1.0))}}, folder / "a.json");
  write_results({environment(), {timed("reference", around(2.0))}}, folder / "b.json");
  const std::string files = (folder / "a.json") + " " + (folder / "b.json");
  const auto run = run_d5("compare " + files + " --format json");
  CHECK(run.status == 0);
  const auto row = nlohmann::json::parse(run.out).at(0);
  CHECK(row.at("B / A") == "2.000");
  CHECK(row.at("verdict") == "worse");
  const auto above = run_d5("compare " + files + " --fail-above 1.5");
  CHECK(above.status == 1);
  CHECK_THAT(above.err, Contains("--fail-above 1.5: failed: Gemm 8x8 8x8 reference time: surely"));
  CHECK(run_d5("compare " + files + " --fail-above 2.5").status == 0);
  const auto close = run_d5("compare " + files + " --fail-above 2");
  CHECK(close.status == 1);
  CHECK_THAT(close.err, Contains("--fail-above 2: cannot tell: Gemm 8x8 8x8 reference time"));
  const auto same =
      run_d5("compare " + (folder / "a.json") + " " + (folder / "a.json") + " --format json");
  CHECK(nlohmann::json::parse(same.out).at(0).at("verdict") == "same within noise");
}

TEST_CASE("of files --metrics says what is compared, and what a gate judges") {
  const TemporaryFolder folder;
  Measurement once = timed("reference", {3}), batches = timed("reference", around(1.0));
  batches.metric = "batch_time";
  write_results({environment(), {once, batches}}, folder / "a.json");
  const std::string files =
      "compare " + (folder / "a.json") + " " + (folder / "a.json") + " --fail-above 1.05";
  const auto all = run_d5(files);
  CHECK(all.status == 1);  // a time that was taken once
  CHECK_THAT(all.err, Contains("--metrics batch_time"));
  const auto chosen = run_d5(files + " --metrics batch_time");
  CHECK(chosen.status == 0);
  CHECK_THAT(chosen.out, Contains("batch_time") && !Contains(" time "));
  const auto unknown = run_d5(files + " --metrics batch_tim");
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("did you mean batch_time"));
}

TEST_CASE("compare of files does not pass what is mistrusted") {
  const TemporaryFolder folder;
  Measurement slow = timed("reference", around(6984.0));
  mistrust(slow, "the samples drift");
  write_results({environment(), {timed("reference", around(1.0))}}, folder / "a.json");
  write_results({environment(), {slow}}, folder / "b.json");
  const auto run =
      run_d5("compare " + (folder / "a.json") + " " + (folder / "b.json") + " --fail-above 1.05");
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("B is mistrusted: the samples drift"));
}

TEST_CASE("compare of files gives the geometric mean of several pairs") {
  const TemporaryFolder folder;
  const auto both = [](double first, double second) {
    Measurement other = timed("reference", around(second));
    other.subject = "Relu 8";
    return Results{environment(), {timed("reference", around(first)), other}};
  };
  write_results(both(1, 1), folder / "a.json");
  write_results(both(2, 8), folder / "b.json");
  const auto run = run_d5("compare " + (folder / "a.json") + " " + (folder / "b.json") +
                          " --format json --quiet");
  const auto rows = nlohmann::json::parse(run.out);
  REQUIRE(rows.size() == 3);
  CHECK(rows.at(2).at("subject") == "geometric mean");
  CHECK(rows.at(2).at("framework") == "2 pairs");
  CHECK(rows.at(2).at("B / A") == "4.000");
  CHECK_THAT(rows.at(2).at("verdict").get<std::string>(), Contains("0 faster, 2 slower"));
}

TEST_CASE("compare of two subjects does not pass what noise or mistrust hides") {
  // Three samples have no interval, and are mistrusted: nobody knows which is slower.
  const std::string pair = "compare 'Relu 64' 'Relu 64' --samples 3 --fail-above 100";
  const auto run = run_d5(pair);
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("--fail-above 100: cannot tell: Relu 64 reference time_ratio"));
  const TemporaryFolder folder;
  const auto retried = run_d5(pair + " --retry 1 --format json");
  CHECK_THAT(retried.err, Contains("retry 1 of 1, 6 samples"));
  const auto results = nlohmann::json::parse(retried.out);
  CHECK(results.at("measurements").at(0).at("samples").size() == 6);
}

TEST_CASE("compare of a subject that cannot run says why, and passes no gate") {
  const std::string pair =
      "compare 'Relu 64' 'Relu 64' --samples 3 --allow-unsupported "
      "--framework reference," D5_PARTS;
  const auto run = run_d5(pair);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("unsupported [2]") && Contains("operator Relu"));
  const auto gated = run_d5(pair + " --fail-above 2");
  CHECK(gated.status == 1);
  CHECK_THAT(gated.err, Contains("cannot tell: A and B: not both have a time"));
}

TEST_CASE("compare of files tells what it could not compare") {
  const TemporaryFolder folder;
  Measurement other = timed("reference", around(1.0)), failed = timed("reference", {});
  other.subject = failed.subject = "Relu 8";
  failed.status = Status::failed;
  failed.reason = "it crashed";
  const Measurement both = timed("reference", around(1.0));
  write_results({environment(), {both, other}}, folder / "a.json");
  write_results({environment(), {both, failed}}, folder / "b.json");
  const std::string files = (folder / "a.json") + " " + (folder / "b.json");
  const auto run = run_d5("compare " + files);
  CHECK(run.status == 0);
  CHECK_THAT(run.err, Contains("1 of A's records is not compared: Relu 8 reference time: B is "
                               "failed: it crashed"));
  CHECK(run_d5("compare " + files + " --fail-above 2").status == 1);
}

TEST_CASE("compare pairs results of one rank with those of two, and says what differs") {
  const TemporaryFolder folder;
  Measurement one = timed("reference", around(2.0)), two = timed("torch", around(1.0));
  one.level = "training";
  two.level = "distributed training";
  two.conditions["ranks"] = "2";
  Measurement of_rank = two;
  of_rank.conditions["rank"] = "1";
  write_results({environment(), {one}}, folder / "one.json");
  write_results({environment(), {two, of_rank}}, folder / "two.json");
  const auto run =
      run_d5("compare " + (folder / "one.json") + " " + (folder / "two.json") + " --format json");
  CHECK(run.status == 0);
  const auto rows = nlohmann::json::parse(run.out);
  REQUIRE(rows.size() == 1);
  CHECK(rows.at(0).at("B / A") == "0.500");
  CHECK_THAT(run.err, Contains("ranks: none said and 2") && Contains("reference and torch"));

  // Both frameworks in both files: none of them is taken for the other.
  Measurement slow = timed("torch", around(4.0));
  write_results({environment(), {timed("reference", around(1.0)), slow}}, folder / "one.json");
  write_results({environment(), {slow}}, folder / "two.json");
  const auto same =
      run_d5("compare " + (folder / "one.json") + " " + (folder / "two.json") + " --format json");
  CHECK(nlohmann::json::parse(same.out).at(0).at("B / A") == "1.000");
}

TEST_CASE("compare of files that share nothing says so") {
  const TemporaryFolder folder;
  write_results({environment(), {timed("reference", around(1.0))}}, folder / "a.json");
  write_results({environment(), {}}, folder / "b.json");
  const auto run = run_d5("compare " + (folder / "a.json") + " " + (folder / "b.json"));
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("no measurement is in both"));
}

TEST_CASE("compare runs two subjects interleaved") {
  const TemporaryFolder folder;
  const auto run = run_d5("compare 'Relu 64' 'Relu 4096' --out " + (folder / "both.json"));
  CHECK(run.status == 0);
  const Results results = read_results(folder / "both.json");
  std::vector<Measurement> times;
  for (const auto& m : results.measurements) {
    CHECK_THAT(m.command, Catch::StartsWith("d5 compare 'Relu 64' 'Relu 4096'"));
    if (m.metric == "time") times.push_back(m);
  }
  REQUIRE(times.size() == 2);
  CHECK(times[0].samples.size() == times[1].samples.size());
  CHECK(results.measurements.back().metric == "time_ratio");
  CHECK(results.measurements.back().conditions.at("base") == "Relu 64");
}

TEST_CASE("--format gbench prints what Google Benchmark would") {
  const auto run = run_d5("op bench 'Relu 64' --pass forward --samples 5 --quiet --format gbench");
  CHECK(run.status == 0);
  const auto file = nlohmann::json::parse(run.out);
  CHECK(file.at("context").contains("host_name"));
  REQUIRE(file.at("benchmarks").size() == 5 + 4);
  CHECK(file.at("benchmarks").at(0).at("name") == "Relu 64/reference/pass:forward");
}

TEST_CASE("report prints results files as table, CSV and Markdown, and keeps their verdict") {
  const TemporaryFolder folder;
  Measurement bad = timed("reference", {1});
  bad.status = Status::failed;
  bad.reason = "it was wrong";
  write_results({environment(), {timed("reference", around(1.0))}}, folder / "good.json");
  write_results({environment(), {bad}}, folder / "bad.json");
  const auto good = run_d5("report " + (folder / "good.json"));
  CHECK(good.status == 0);
  CHECK_THAT(good.out, Contains("Gemm 8x8 8x8"));
  const auto both = run_d5("report " + (folder / "good.json") + " " + (folder / "bad.json") +
                           " --format markdown");
  CHECK(both.status == 1);
  CHECK_THAT(both.out, Contains("subject Gemm 8x8 8x8") && Contains("| failed [1] |") &&
                           Contains("- [1] it was wrong"));
}
