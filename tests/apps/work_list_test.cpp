// SPDX-License-Identifier: Apache-2.0
// Many cases and models in one call, and what is left when it is cut short.
#include <csignal>
#include <nlohmann/json.hpp>

#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "tests/apps/background_run.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;
using Catch::StartsWith;
using d5::testing::BackgroundRun;
using d5::testing::content_of;
using d5::testing::run_d5;
using d5::testing::write_relu_folder;
using testing::TemporaryFolder;

namespace {

/// Half a second each, and more samples than fit into it.
constexpr const char* kSlow =
    "op bench 'Relu 8' 'Tanh 8' 'Abs 8' --pass forward --samples 10000000 --most-seconds 0.5";

}  // namespace

TEST_CASE("a killed run goes on where it was, with what it had measured") {
  const TemporaryFolder folder;
  const std::string out = folder / "r.json", journal = out + ".journal";
  const std::string arguments = kSlow + (" --quiet --out " + out);
  const auto one_is_done = [&] {
    return content_of(folder / "printed").find("Relu 8") != std::string::npos;
  };
  const int status = BackgroundRun(arguments, folder / "printed").end(SIGKILL, one_is_done);
  CHECK(WIFSIGNALED(status));
  CHECK_FALSE(std::filesystem::exists(out));
  const std::string kept = content_of(journal);

  const auto second = run_d5(arguments);
  CHECK(second.status == 2);
  CHECK_THAT(second.err, Contains("give --resume to continue it, or remove it"));
  const auto other = run_d5(arguments + " --seed 3 --resume");
  CHECK(other.status == 2);
  CHECK_THAT(other.err, Contains("--seed 3"));

  const auto run = run_d5(arguments + " --resume");
  CHECK(run.status == 0);
  CHECK_FALSE(std::filesystem::exists(journal));
  const Results results = read_results(out);
  std::vector<std::string> times;
  for (const auto& m : results.measurements) {
    if (m.metric == "time") times.push_back(m.subject);
  }
  CHECK(times == std::vector<std::string>{"Relu 8", "Tanh 8", "Abs 8"});
  const std::string piece = kept.substr(kept.find('\n') + 1);
  const auto line = nlohmann::json::parse(piece.substr(0, piece.find('\n')));
  const Results before = results_from_json(line.at("results").dump(), journal);
  CHECK(results.measurements.front().samples == before.measurements.front().samples);
  const auto whole = run_d5(arguments + " --resume");
  CHECK(whole.status == 0);
  CHECK_THAT(whole.out, Contains("Abs 8"));
}

TEST_CASE("--resume of a whole file measures what was added, and keeps what was taken out") {
  const TemporaryFolder folder;
  const std::string out = folder / "r.json", cases = folder / "cases.txt";
  const std::string command =
      "op bench " + cases + " --pass forward --samples 2 --out " + out + " --resume";
  const auto times = [&] {
    std::map<std::string, std::vector<double>> times;
    for (const auto& m : read_results(out).measurements) {
      if (m.metric == "time") times[m.subject] = m.samples;
    }
    return times;
  };
  testing::write(cases, "Relu 8\nTanh 8\n");
  CHECK(run_d5(command).status == 0);
  const auto first = times();
  REQUIRE(first.size() == 2);
  const std::string whole = content_of(out);
  const auto again = run_d5(command);
  CHECK_THAT(again.out, Contains("Relu 8") && Contains("Tanh 8"));
  CHECK_THAT(again.err, Contains("nothing is left to measure"));
  CHECK(content_of(out) == whole);

  testing::write(cases, "Abs 8\nTanh 8\n");
  const auto added = run_d5(command);
  CHECK_THAT(added.out, Contains("Abs 8") && Contains("Tanh 8") && !Contains("Relu 8"));
  auto second = times();
  CHECK(second.size() == 3);
  second.erase("Abs 8");
  CHECK(second == first);
  const auto other = run_d5(command + " --seed 3");
  CHECK(other.status == 2);
  CHECK_THAT(other.err, Contains("--seed 3"));
}

TEST_CASE("SIGTERM and a terminal that closes lose nothing that was measured") {
  const auto [signal, expected] = GENERATE(std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129});
  const TemporaryFolder folder;
  const std::string out = folder / "r.json";
  const int status =
      BackgroundRun(kSlow + (" --quiet --out " + out), folder / "printed").end(signal, [&] {
        return content_of(folder / "printed").find("Relu 8") != std::string::npos;
      });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == expected);
  const Results results = read_results(out);
  REQUIRE_FALSE(results.measurements.empty());
  CHECK(results.measurements.front().subject == "Relu 8");
  CHECK(results.measurements.back().subject != "Abs 8");  // it ended before
  CHECK(std::filesystem::exists(out + ".journal"));
}

TEST_CASE("rows are printed although the disk is full, and the status tells") {
  const TemporaryFolder folder;
  const std::string out = folder / "r.json";
  const auto run = run_d5("op bench 'Relu 8' 'Tanh 8' --samples 200 --quiet --out " + out,
                          R"(sh -c 'trap "" XFSZ; ulimit -f 4; exec "$0" "$@"')");
  CHECK(run.status == 2);
  CHECK_THAT(run.out, Contains("Relu 8") && !Contains("Tanh 8"));  // no work whose result is lost
  CHECK_THAT(run.err, Contains("r.json") && Contains("File too large"));
}

TEST_CASE("a bad --out is found before the first measurement") {
  for (const std::string command :
       {"op bench 'Relu 8'", "op check 'Relu 8'", "net check lenet", "net bench lenet",
        "train mnist-lenet-quick", "net run lenet", "compare 'Relu 8' 'Relu 9'"}) {
    INFO(command);
    const auto run = run_d5(command + " --out /no/such/folder/r.json");
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Contains("/no/such/folder/r.json"));
  }
}

TEST_CASE("a case that does not fit into memory is skipped with the figure, and the others run") {
  for (const std::string command : {"op bench --samples 3 --pass forward", "op check"}) {
    INFO(command);
    const auto run = run_d5(command + " 'Relu 1000000x1000000x8' 'Sigmoid 3'");
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("skipped") && Contains("takes 32000000000000 bytes") &&
                            Contains("Sigmoid 3"));
  }
}

TEST_CASE("--list names, --dry-run plans, --filter chooses") {
  const TemporaryFolder folder;
  testing::write(folder / "cases.txt", "Relu 4\nSigmoid 2x2\nConv 1x1x4x4 1x1x3x3\n");
  const std::string command = "op bench " + (folder / "cases.txt");
  CHECK(run_d5(command + " --list --filter '^S|Conv' --format csv").out ==
        "name\r\nSigmoid 2x2\r\nConv 1x1x4x4 1x1x3x3\r\n");
  const auto planned = run_d5(command + " --dry-run --framework reference," D5_PARTS);
  CHECK_THAT(planned.out, Contains("planned, not run") && Contains("unsupported"));
  CHECK_THAT(planned.out, !Contains("median"));
  CHECK_THAT(run_d5("net bench lenet --training --dry-run").out, Contains("planned, not run"));
  // Its reshape holds for one size of image alone: to be seen, it has to be compiled.
  Network network("reshaped");
  network.add_input("x", DType::float32, {std::int64_t{1}, "size"});
  network.add_constant("shape", Tensor::vector(std::vector<std::int64_t>{1, 4}));
  network.add_node("Reshape", {"x", "shape"}, {"y"});
  network.add_output("y");
  network.save(folder / "reshaped.onnx");
  for (const std::string net : {"net bench ", "net check "}) {
    const std::string of = net + (folder / "reshaped.onnx") + " --dry-run --dim size=";
    CHECK_THAT(run_d5(of + "4").out, Contains("planned, not run"));
    const auto wrong = run_d5(of + "5");
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.out, Contains("Reshape"));
  }
  for (const auto& [options, message] :
       {std::pair{" --filter Gelu", "none of 3"}, std::pair{" --filter '('", "regular expression"},
        std::pair{" --resume", "--out"}, std::pair{" --list --out r.json", "--out"}}) {
    INFO(options);
    const auto run = run_d5(command + options);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains(message));
  }
}

TEST_CASE("net check takes several models and folders of test folders; one failure ends nothing") {
  const TemporaryFolder folder;
  write_relu_folder(folder / "all/b_right", {0, 2});
  write_relu_folder(folder / "all/a_wrong", {0, 2.5});
  testing::write(folder / "broken.onnx", "this is no model");
  const auto run = run_d5("net check " + (folder / "broken.onnx") + " " + (folder / "all") +
                          " --out " + (folder / "r.json"));
  CHECK(run.status == 2);  // bad input is more than a failure
  const Results results = read_results(folder / "r.json");
  REQUIRE(results.measurements.size() == 3);
  CHECK(results.measurements[0].status == Status::failed);  // broken
  CHECK(results.measurements[1].status == Status::failed);  // wrong
  CHECK(results.measurements[2].status == Status::passed);
  for (const std::string net : {"net check ", "net bench ", "net bench --dry-run "}) {
    const auto broken = run_d5(net + (folder / "broken.onnx"));
    CHECK(broken.status == 2);
    CHECK_THAT(broken.err, Contains("broken.onnx"));
  }
  CHECK(run_d5("net check lenet " + (folder / "none.onnx")).status == 2);
}

TEST_CASE("net bench measures several models in one call, as a table of models by frameworks") {
  const auto run = run_d5(
      "net bench lenet resnet-18 --batch 1 --samples 2 --metrics time --format csv "
      "--most-seconds 0.1 --pivot framework");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, StartsWith("metric,subject,reference\r\n") && Contains("time,lenet,") &&
                          Contains("time,resnet-18,"));
}

TEST_CASE("report pivots, and a misspelt column costs no result") {
  const TemporaryFolder folder;
  CHECK(run_d5("op bench 'Relu 8' --samples 3 --quiet --out " + (folder / "r.json")).status == 0);
  CHECK_THAT(run_d5("report " + (folder / "r.json") + " --pivot pass").out,
             Contains("backward / forward") && Contains("geometric mean"));
  const auto wrong = run_d5("report " + (folder / "r.json") + " --pivot pas");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("did you mean pass"));
  CHECK_THAT(wrong.out, Contains("Relu 8"));
}
