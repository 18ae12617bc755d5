// SPDX-License-Identifier: Apache-2.0
// Frameworks that fail, in the program: each its own row, and the run goes on.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "tests/apps/program_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using testing::TemporaryFolder;

namespace {

/// The plug-ins of tests lie beside this program.
const bool path_is_set = [] {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plugins";
  std::ofstream(folder / "d5_framework_garbage.so") << "this is no library";
  return setenv("D5_PLUGIN_PATH", folder.c_str(), 1) == 0;
}();

std::vector<Measurement> framework_rows(const std::string& command) {
  const TemporaryFolder folder;
  const auto run = run_d5(command + " --quiet --out " + (folder / "r.json"));
  INFO(run.err);
  CHECK(run.status == 1);
  return read_results(folder / "r.json").measurements;
}

std::vector<Measurement> framework_rows(const std::vector<Measurement>& rows,
                                        const std::string& subject, const std::string& framework) {
  std::vector<Measurement> result;
  std::ranges::copy_if(rows, std::back_inserter(result), [&](const Measurement& one) {
    return one.subject == subject && one.framework == framework;
  });
  return result;
}

Network one_node(const std::string& op) {
  Network network(op);
  network.add_input("x", DType::float32, {2, 3});
  network.add_node(op, {"x"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("'env' says of each framework why it cannot be used") {
  REQUIRE(path_is_set);
  const auto env = run_d5("env --format csv");
  CHECK(env.status == 0);
  CHECK_THAT(env.out, Contains("was built with d5 0.0.0"));
  CHECK_THAT(env.out, Contains("+000000000000"));
  CHECK_THAT(env.out, Contains("does not define d5_plugin_stamp"));
  CHECK_THAT(env.out, Contains("garbage.so: file too short") || Contains("invalid ELF header"));
  CHECK_THAT(env.out, Contains("no such accelerator"));
  CHECK_THAT(env.out, Contains("libnowhere.so: cannot open shared object file"));
  CHECK_THAT(env.out, Contains("it threw an exception of unknown type"));
  CHECK_THAT(env.out, Contains("framework numbers,\"1.2.3, "));
}

TEST_CASE("--framework all has a row of each framework that can be loaded") {
  const auto rows =
      framework_rows("op bench 'Identity 2x3' --framework misbehaving,all --samples 3");
  CHECK(framework_rows(rows, "Identity 2x3", "misbehaving").at(0).metric == "time");
  CHECK(framework_rows(rows, "Identity 2x3", "reference").at(0).metric == "time");
  CHECK(framework_rows(rows, "Identity 2x3", "toy").at(0).status == Status::unsupported);
  CHECK(framework_rows(rows, "Identity 2x3", "numbers").empty());
  const auto notes = run_d5("op check 'Identity 2x3' --framework all --allow-unsupported");
  CHECK_THAT(notes.err, Contains("note: ") && Contains("no such accelerator"));
}

TEST_CASE("a framework that the build left out is said where it is named or listed, not by all") {
  const TemporaryFolder folder;
  testing::write(folder / "d5_framework_nowhere.left_out", "it was not installed\n");
  const std::string here = "env D5_PLUGIN_PATH=" + folder.path().string();
  const auto run = [&](const std::string& arguments) { return run_d5(arguments, here); };
  CHECK_THAT(run("op check 'Relu 2x3' --framework all --no-gradient").err, !Contains("nowhere"));
  CHECK_THAT(run("list").err, !Contains("nowhere"));
  const auto listed = run("list frameworks --format csv");
  CHECK_THAT(listed.err, Contains("note: left out of this build: ") && Contains("nowhere") &&
                             Contains("'d5 env' says why") && !Contains("it was not"));
  CHECK_THAT(listed.out, !Contains("nowhere"));
  CHECK_THAT(run("env --format csv").out, Contains("it was not installed"));
  const auto named = run("op check 'Relu 2x3' --framework nowhere --no-gradient");
  CHECK(named.status == 1);
  CHECK_THAT(named.out, Contains("unsupported") && Contains("it was not installed"));
}

TEST_CASE("a case on which a framework crashes ends neither the others nor the next case") {
  const auto rows = framework_rows(
      "op bench 'Ceil 2x3' 'Floor 2x3' 'Identity 2x3' --framework misbehaving,reference --samples "
      "3 "

      "--pass forward --isolate 50");
  const auto crashed = framework_rows(rows, "Ceil 2x3", "misbehaving");
  REQUIRE(crashed.size() == 1);
  CHECK(crashed[0].status == Status::failed);
  CHECK_THAT(crashed[0].reason, Contains("SIGSEGV"));
  CHECK(framework_rows(rows, "Ceil 2x3", "reference").at(0).samples.size() == 3);
  CHECK(framework_rows(rows, "Floor 2x3", "misbehaving").back().status == Status::failed);
  CHECK(framework_rows(rows, "Identity 2x3", "misbehaving").at(0).samples.size() == 3);
}

TEST_CASE("a network that a framework fails on is checked and measured in the others") {
  const TemporaryFolder folder;
  for (const auto& [op, reason] : {std::pair{"Relu", "out of luck"},
                                   {"Tanh", "that d5 does not know"},
                                   {"Sin", "not know"},
                                   {"Cos", "no plan"},
                                   {"Floor", "changed input 'x'"},
                                   {"Abs", "nan"}}) {
    INFO(op);
    const std::string file = folder / (std::string(op) + ".onnx");
    one_node(op).save(file);
    const auto checked = framework_rows("net check " + file +
                                        " --framework misbehaving,reference --against reference");
    CHECK(framework_rows(checked, op, "misbehaving").at(0).status == Status::failed);
    CHECK_THAT(framework_rows(checked, op, "misbehaving").at(0).reason, Contains(reason));
    CHECK(framework_rows(checked, op, "reference").at(0).status == Status::skipped);
  }
  const auto measured = framework_rows("net bench " + (folder / "Relu.onnx") +
                                       " --framework misbehaving,reference --samples 3");
  CHECK(framework_rows(measured, "Relu", "misbehaving").at(0).status == Status::failed);
  CHECK(framework_rows(measured, "Relu", "reference").at(0).samples.size() == 3);
}

TEST_CASE("a crash is cut down to the node that brings it, and the program lives on") {
  const TemporaryFolder folder;
  Network network("five");
  network.add_input("x", DType::float32, {4, 6});
  std::string before = "x";
  for (const char* op : {"Softplus", "Softsign", "Ceil", "Softplus", "Softsign"}) {
    const std::string after = before + "'";
    network.add_node(op, {before}, {after});
    before = after;
  }
  network.add_output(before);
  network.save(folder / "five.onnx");
  const std::string command = "net check " + (folder / "five.onnx") +
                              " --framework misbehaving+reference --reduce " + (folder / "few/");
  for (int i = 0; i < 2; ++i) {  // the second one finds what the first one left
    const auto row = framework_rows(command).at(0);
    CHECK(row.samples == std::vector<double>{1});
    CHECK_THAT(row.reason, Contains("SIGSEGV"));
    CHECK_THAT(testing::content_of(folder / "few/README.md"), Contains("- Ceil"));
  }
  const auto said = run_d5("net check " + (folder / "five.onnx") +
                           " --framework misbehaving+reference --reduce " + (folder / "more"));
  CHECK_THAT(said.err, Contains("1 node left after"));
  const auto quiet =
      run_d5("net check " + (folder / "five.onnx") +
             " --framework misbehaving+reference --quiet --reduce " + (folder / "quiet"));
  CHECK_THAT(quiet.err, !Contains("left after"));
  CHECK(run_d5("net check lenet --slower 2").status == 2);
  CHECK_THAT(run_d5("net check lenet --reduce " + folder.path().string()).err,
             Contains("holds no reduction to continue"));
}

TEST_CASE("a case is cut down to the smallest, which is said as a command") {
  const auto run = run_d5("op check 'Ceil 4x6' 'Identity 2x3' --framework misbehaving --reduce");
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("the smallest case: d5 op check 'Ceil scalar' --framework "
                               "misbehaving"));
  CHECK_THAT(run.out, Contains("Ceil scalar: crashed: SIGSEGV"));
}

TEST_CASE("where nothing fails, a sentence says that there is nothing to reduce") {
  const TemporaryFolder folder;
  for (const std::string& check : {std::string("op check 'Relu 2x3' --no-gradient --reduce"),
                                   "net check lenet --reduce " + (folder / "few")}) {
    const auto run = run_d5(check);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains(", reference: nothing fails: there is nothing to reduce") &&
                            !Contains("reduced_"));
  }
  CHECK_THAT(run_d5("op check 'Relu 2x3' --no-gradient --reduce --format csv").out,
             Contains("reduced_elements"));
}
