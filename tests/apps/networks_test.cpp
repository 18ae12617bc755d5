// SPDX-License-Identifier: Apache-2.0
// Networks on the command line: which node differs, batch sizes, and values in files.
#include <csignal>
#include <set>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/file.hpp"
#include "tests/apps/background_run.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;
using testing::BackgroundRun;
using testing::content_of;
using testing::run_d5;
using testing::TemporaryFolder;

namespace {

/// The batches of what was timed, in order.
std::vector<std::string> batches_in(const std::string& file) {
  std::vector<std::string> batches;
  for (const auto& m : read_results(file).measurements) {
    if (m.metric == "time") batches.push_back(m.conditions.at("batch").text());
  }
  return batches;
}

/// y = x W for rows x of two numbers, W = {{0.1, 1}, {0.2, 1}}.
void write_product(const std::string& path) {
  Network network("product");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_parameter("w", Tensor::of<float>({2, 2}, {0.1F, 1, 0.2F, 1}));
  network.add_node("MatMul", {"x", "w"}, {"y"}, {}, "product");
  network.add_output("y");
  network.save(path);
}

}  // namespace

TEST_CASE("net check --by-node names the first node to differ, of models and test folders") {
  const TemporaryFolder folder;
  write_product(folder / "product.onnx");
  testing::write_relu_folder(folder / "relu", {0, 2});
  const std::string models = (folder / "product.onnx") + " " + (folder / "relu");
  const auto run = run_d5("net check --by-node " + models);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("product, reference: all 1 nodes agree") &&
                          Contains("relu, reference: all 1 nodes agree") &&
                          !Contains("nothing was measured"));

  const auto written =
      run_d5("net check --by-node " + models + " --rtol 1e-7 --quiet --out " + (folder / "r.json"));
  CHECK(written.status == 0);
  const auto records = read_results(folder / "r.json").measurements;
  REQUIRE_FALSE(records.empty());
  std::set<std::string> metrics;
  for (const auto& m : records) {
    metrics.insert(m.metric);
    CHECK(m.level == "operator");
    CHECK_THAT(m.command, Contains(" --by-node"));
    CHECK(m.conditions.contains("node"));
  }
  CHECK(metrics == std::set<std::string>{"accumulated_error", "own_error"});
  CHECK(run_d5("net check --against no_such_framework " + (folder / "product.onnx")).status == 2);
}

TEST_CASE("net check --backward judges gradients where there is no loss") {
  const TemporaryFolder folder;
  write_product(folder / "product.onnx");
  testing::write_relu_folder(folder / "relu", {0, 2});
  const std::string model = folder / "product.onnx";
  CHECK(run_d5("net check " + model + " --transform dead-code --backward --out " +
               (folder / "r.json"))
            .status == 0);
  std::set<std::string> tensors;
  for (const auto& m : read_results(folder / "r.json").measurements) {
    tensors.insert(m.conditions.at("tensor").text());
    CHECK_THAT(m.command, Contains(" --backward"));
  }
  CHECK(tensors == std::set<std::string>{"output y", "gradient of w"});
  for (const std::string& wrong :
       {model + " --by-node", model + " --transform half-precision", folder / "relu"}) {
    const auto run = run_d5("net check --backward " + wrong);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("--backward"));
  }
}

TEST_CASE("net bench goes through sizes of batch, and one that does not fit ends no other") {
  const TemporaryFolder folder;
  const std::string out = folder / "r.json";
  const auto run = run_d5(
      "net bench lenet --batch 1,1000000000,2..4*2 --metrics latency_p90 "
      "--samples 3 --most-seconds 1 --quiet --out " +
      out);
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("above the memory budget"));
  CHECK(batches_in(out) == std::vector<std::string>{"1", "1000000000", "2", "4"});
  for (const std::string plot : {"time-over-batch", "latency_p90-over-batch"}) {
    const auto svg = run_d5("report " + out + " --format svg --plot " + plot);
    CHECK_THAT(svg.out, Contains("<svg") && Contains("batch"));
  }
  CHECK(run_d5("net bench lenet --list --batch 1,4").out.find("lenet, batch 4") !=
        std::string::npos);
  const auto wrong = run_d5("net bench lenet --batch 4..1");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("'4..1'") && Contains("1..64*2"));
}

TEST_CASE("several batches or memory limits of a network are rows of one table") {
  for (const std::string several : {"--batch 1,16", "--batch 64 --memory 8MiB,16MiB"}) {
    const auto run = run_d5("net bench lenet --samples 2 --most-seconds 1 --quiet " + several);
    CAPTURE(run.out);
    CHECK(run.status == 0);
    const std::size_t title = run.out.find(" metric ");
    REQUIRE(title != std::string::npos);
    CHECK(run.out.find(" metric ", title + 1) == std::string::npos);
  }
}

TEST_CASE("net bench goes through memory limits, with a curve over them") {
  const TemporaryFolder folder;
  const std::string out = folder / "r.json";
  const auto run = run_d5(
      "net bench lenet --batch 64 --memory 4KiB,2MiB,8MiB --metrics time --samples 2 "
      "--most-seconds 1 --quiet --out " +
      out);
  CHECK(run.status == 1);  // the first is too little for any plan
  CHECK_THAT(run.out, Contains("above the memory limit of 4 KiB"));
  const auto svg = run_d5("report " + out + " --format svg --plot time-over-memory-limit");
  CHECK_THAT(svg.out, Contains("<svg") && Contains("memory limit"));
  const auto list = run_d5("net bench lenet --list --memory 1MiB,2MiB");
  CHECK_THAT(list.out, Contains("lenet, memory 1MiB") && Contains("lenet, memory 2MiB"));
}

TEST_CASE("a killed net bench goes on where it was, and with batch sizes that were added") {
  const TemporaryFolder folder;
  const std::string out = folder / "r.json", journal = out + ".journal";
  const std::string command =
      "net bench lenet --samples 10000000 --most-seconds 0.5 --quiet --out " + out + " --batch ";
  const auto one_is_done = [&] {
    return content_of(journal).find("sample_rate") != std::string::npos;
  };
  const int status = BackgroundRun(command + "1,2,4", folder / "printed").end(SIGKILL, one_is_done);
  CHECK(WIFSIGNALED(status));
  CHECK_FALSE(std::filesystem::exists(out));
  const std::string kept = content_of(journal);

  CHECK(run_d5(command + "1,2,4 --resume").status == 0);
  CHECK(batches_in(out) == std::vector<std::string>{"1", "2", "4"});
  const auto first = read_results(out).measurements.front();
  CHECK(kept.find(first.conditions.at("batch").text()) != std::string::npos);
  CHECK(run_d5(command + "1,2,4,8 --resume").status == 0);
  CHECK(batches_in(out) == std::vector<std::string>{"1", "2", "4", "8"});
  CHECK(read_results(out).measurements.front().samples == first.samples);  // not measured again
}

TEST_CASE("net run takes values from files of NumPy and ONNX, and writes them") {
  const TemporaryFolder folder;
  const std::string model = folder / "product.onnx";
  write_product(model);
  const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  write_file(folder / "x.npy", to_npy(x));
  write_file(folder / "x.pb", onnx::serialize_value(x, "x"));
  for (const std::string kind : {".npy", ".pb"}) {
    const std::string y = folder / ("y" + kind);
    const auto run =
        run_d5("net run " + model + " --input x=" + (folder / ("x" + kind)) + " --output y=" + y);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("float32 3x2"));
    const Tensor read = kind == ".npy" ? read_npy(y) : onnx::load_value(y, {}).tensor();
    REQUIRE(read.shape() == Shape{3, 2});
    CHECK(read.span<float>()[0] == Approx(0.1 + 0.4));
    CHECK(read.span<float>()[5] == Approx(5 + 6));
  }
  for (const auto& [options, message] :
       {std::pair{" --input x=x.txt", "NAME=FILE.npy"}, std::pair{" --input z=z.npy", "known: x"},
        std::pair{" --output z=/tmp/z.npy", "known: y"},
        std::pair{" lenet --output y=/tmp/y.npy", "2 runs"},
        std::pair{" --output y=/no/such/folder/y.npy", "/no/such/folder"}}) {
    INFO(options);
    const auto run = run_d5("net run " + model + options);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains(message));
  }
}

TEST_CASE("net run runs several models in one table; one that fails ends no other") {
  const TemporaryFolder folder;
  for (const std::int64_t size : {4, 5}) {
    const std::string name = "to" + std::to_string(size);
    Network network(name);
    network.add_input("x", DType::float32, {std::int64_t{1}, "size"});
    network.add_constant("shape", Tensor::vector<std::int64_t>({1, size}));
    network.add_node("Reshape", {"x", "shape"}, {"y"});
    network.add_output("y");
    network.save(folder / (name + ".onnx"));
  }
  const auto run = run_d5("net run " + (folder / "to5.onnx") + " " + (folder / "to4.onnx") +
                          " --dim size=4 --out " + (folder / "r.json"));
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("to5") && Contains("Reshape") && Contains("float32 1x4"));
  const auto records = read_results(folder / "r.json").measurements;
  REQUIRE(records.size() == 2);
  CHECK(records[0].status == Status::failed);
  CHECK(records[1].status == Status::mistrusted);  // one run
}
