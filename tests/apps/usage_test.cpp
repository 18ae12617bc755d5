// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/apps/program_run.hpp"

using Catch::Contains;
using Catch::StartsWith;
using d5::testing::run_d5;

TEST_CASE("help of every command teaches by examples and ends with status 0") {
  const auto top = run_d5("--help");
  CHECK(top.status == 0);
  CHECK(top.err.empty());
  for (const char* command : {"env", "list", "op", "net", "train", "compare", "report"}) {
    CHECK_THAT(top.out, Contains(std::string("  ") + command + " "));
  }
  for (const std::string command : {"env", "list", "op check", "op bench", "net check", "net run",
                                    "net bench", "net show", "train", "compare", "report"}) {
    INFO(command);
    const auto help = run_d5(command + " --help");
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains("Examples:\n  d5 " + command));
    CHECK_THAT(help.out, Contains("--format") && Contains("--out") && Contains("--quiet"));
  }
}

TEST_CASE("bad usage ends with status 2, a message on stderr, and nothing on stdout") {
  const auto [arguments, message] = GENERATE(table<std::string, std::string>({
      {"", "d5 --help"},
      {"opp", "did you mean op"},
      {"op chek", "did you mean check"},
      {"env --formt table", "did you mean --format"},
      {"env --format pdf", "--format"},
      {"op check", "CASE"},
      {"op bench 'Relu 2' --samples 0", "--samples"},
      {"op bench 'Relu 2' --pass sideways", "--pass"},
      {"list operatrs", "did you mean operators"},
      {"net show lenett", "did you mean lenet"},
      {"net show no/such.onnx", "no/such.onnx"},
      {"net run lenet --framework tochr", "tochr"},
      {"net run lenet --dim N=0", "N=0"},
      {"op check 'Rellu 2x3'", "did you mean Relu"},
      {"op check 'Relu 2xx3'", "column 8"},
      {"op check 'Relu 2' --device gpu", "gpu"},
      {"op bench 'Relu 2' --metrics tme", "tme"},
      {"op check 'Relu 2' --framework refrence", "did you mean reference"},
      {"net show lenet --framework reference+trch", "trch"},
      {"op check 'Relu 2' --load /no/such/library.so", "/no/such/library.so"},
      {"op check 'Relu 2' --trace /no/such/folder/trace.json", "/no/such/folder/trace.json"},
      {"train no-such-recipe", "no-such-recipe"},
      {"train mnist-lenet-quick --set training.epochz=1", "epochs"},
      {"train mnist-lenet-quick --set model.name=alexnet", "fixed"},
      {"train mnist-lenet-quick --resume", "--checkpoint"},
      {"report /no/such.json", "/no/such.json"},
      {"compare /no/a.json /no/b.json", "/no/a.json"},
  }));
  INFO("d5 " << arguments);
  const auto run = run_d5(arguments);
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, StartsWith("d5: error: ") && Contains(message));
}

TEST_CASE("an output that cannot be written ends with status 2") {
  const auto run = run_d5("op check 'Relu 2x3' --out /no/such/folder/results.json");
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("/no/such/folder/results.json"));
}

TEST_CASE("env names the processor, the absent devices and why, as text and as JSON") {
  const auto text = run_d5("env");
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("processor") && Contains("framework reference"));
  CHECK_THAT(text.out, Contains("library ONNX") && Contains("library Eigen"));
  const auto json = nlohmann::json::parse(run_d5("env --format json").out);
  CHECK(json.at("environment").at("cores").get<int>() >= 1);
  CHECK(json.at("measurements").empty());
}

TEST_CASE("list shows an entry's options with types, defaults and ranges") {
  const auto adam = run_d5("list optimizers adam");
  CHECK(adam.status == 0);
  CHECK_THAT(adam.out, Contains("adam: Adam (Kingma and Ba, 2015)") && Contains("learning_rate") &&
                           Contains("0.001") && Contains(">= 0, < 1"));
  CHECK_THAT(run_d5("list samplers shuffle").out, Contains("keep|drop"));
  CHECK_THAT(run_d5("list distributed-optimizers consistent_decentralized").out,
             Contains("all_reduce") && Contains("all-reduce") && Contains("mpi"));
  CHECK_THAT(run_d5("list all-reduces ring").out, Contains("no options"));
  const auto rows = nlohmann::json::parse(run_d5("list datasets mnist --format json").out);
  CHECK(rows.at(0).at("option") == "data");
  CHECK(run_d5("list optimizers adams").status == 2);
  CHECK_THAT(run_d5("list operators Relu").err, Contains("'d5 list operators'"));
}

TEST_CASE("list shows every kind, and each kind's entries") {
  const auto all = run_d5("list");
  CHECK(all.status == 0);
  for (const auto& [kind, entry] : {std::pair{"operators", "Conv"},
                                    {"networks", "lenet"},
                                    {"datasets", "mnist"},
                                    {"optimizers", "adam"},
                                    {"samplers", "shuffle"},
                                    {"metrics", "time"},
                                    {"frameworks", "reference"},
                                    {"recipes", "mnist-lenet"},
                                    {"distributed-optimizers", "consistent_decentralized"},
                                    {"all-reduces", "ring"},
                                    {"devices", "cpu"}}) {
    INFO(kind);
    CHECK_THAT(all.out, Contains(kind));
    const auto one = run_d5(std::string("list ") + kind);
    CHECK(one.status == 0);
    CHECK_THAT(one.out, Contains(entry));
  }
  const auto rows = nlohmann::json::parse(run_d5("list samplers --format json").out);
  CHECK(rows.size() >= 2);
  CHECK(rows.at(0).at("name") == "ordered");
}
