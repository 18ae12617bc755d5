// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <sstream>

#include "d5/core/files/carried_file.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/program_run.hpp"

using Catch::Contains;
using Catch::StartsWith;
using d5::transport;
using d5::testing::run_d5;

TEST_CASE("help of every command teaches by examples and ends with status 0") {
  const auto top = run_d5("--help");
  CHECK(top.status == 0);
  CHECK(top.err.empty());
  for (const char* command : {"env", "list", "op", "net", "train", "compare", "report"}) {
    CHECK_THAT(top.out, Contains(std::string("  ") + command + " "));
  }
  for (const std::string command :
       {"env", "list", "op check", "op bench", "net check", "net run", "net bench", "net show",
        "train", "compare", "report", "optimizer check", "sampler check", "all-reduce check",
        "broadcast bench"}) {
    INFO(command);
    const auto help = run_d5(command + " --help");
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains("Examples:\n  ") && Contains("d5 " + command));
    CHECK_THAT(help.out, Contains("--format") && Contains("--quiet"));
    const bool makes_records = command != "list" && command != "net show";
    CHECK((help.out.find("--out") != std::string::npos) == makes_records);
  }
}

TEST_CASE("help of a group of commands has the first example of each") {
  for (const std::string group : {"op", "net", "data", "optimizer", "artefact"}) {
    const auto help = run_d5(group + " --help");
    INFO(help.out);
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains("Examples:\n  d5 " + group + " "));
    CHECK_THAT(help.out, !Contains("d5 env") && Contains("d5 " + group + " COMMAND --help"));
  }
  CHECK_THAT(run_d5("op --help").out,
             Contains("\n  d5 op bench ") && Contains("\n  d5 op check \"Relu 2x3\""));
  CHECK_THAT(run_d5("all-reduce --help").out, Contains("interleaved, 4 B to 64 MiB"));
}

TEST_CASE("d5 alone tells five things to begin with, each on a line, and the way to the rest") {
  const auto run = run_d5("");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  for (const std::string command : {"op check", "op bench", "net show", "train", "compare"}) {
    CHECK_THAT(run.out, Contains("\n  d5 " + command + " "));
  }
  CHECK_THAT(run.out, Contains("\nd5 --help has all commands"));
  CHECK(run_d5("op check 'Conv 2x3x9x9 4x3x3x3'").status == 0);  // the first of them, as it stands
}

TEST_CASE("bad usage ends with status 2, a message on stderr, and nothing on stdout") {
  const auto [arguments, message] = GENERATE(table<std::string, std::string>({
      {"opp", "did you mean op"},
      {"trian --help", "did you mean train"},
      {"op chek 'Relu 2' --help", "did you mean check"},
      {"train mnist", "did you mean mnist-lenet or"},
      {"train no/such.onnx", "model: {file: no/such.onnx, loss: cross_entropy"},
      {"op check Conv", "\"Conv 2x3x9x9 4x3x3x3\""},
      {"net bench Gemm 2x3 3x4", "in quotes"},
      {"net show Gemm 2x3 3x4", "in quotes"},
      {"op chek", "did you mean check"},
      {"env --formt table", "did you mean --format"},
      {"env --format pdf", "--format"},
      {"op check", "CASE"},
      {"op bench 'Relu 2' --samples 0", "--samples"},
      {"op bench 'Relu 2' --pass sideways", "--pass"},
      {"list operatrs", "did you mean operators"},
      {"net show lenett", "did you mean lenet"},
      {"net show no/such.onnx", "no/such.onnx"},
      {"net show lenet:depth=8", "expected the name lenet alone"},
      {"net run lenet --framework tochr", "tochr"},
      {"net run lenet --dim N=0", "N=0"},
      {"net run lenet --place Conv", "OPERATOR=FRAMEWORK"},
      {"net run lenet --place Conv=refrence", "did you mean reference"},
      {"net run lenet --place Conb=reference", "did you mean Conv"},
      {"net show lenet --steps --place node:fc=reference", "did you mean node:fc1"},
      {"net show lenet --place Conv=reference", "--steps"},
      {"net check lenet --numeric -1", "--numeric"},
      {"op check 'Rellu 2x3'", "did you mean Relu"},
      {"op check 'Convolution 2x3x9x9 4x3x3x3'", "did you mean Conv?"},
      {"op check 'Nowhere 2x3'", "'d5 list operators' lists them"},
      {"op check 'Relu 2xx3'", "column 8"},
      {"op check 'Relu 2' --device gpu", "gpu"},
      {"list operators --format svg", "expected csv, json, jsonl, markdown, table"},
      {"scale mnist-lenet-quick --format gbenhc", "did you mean gbench?"},
      {"compare a.json b.json --format gbench", "expected csv, html, json, jsonl, markdown"},
      {"op bench 'Relu 2' --metrics tme", "tme"},
      {"op check 'Relu 2' --framework refrence", "did you mean reference"},
      {"net show lenet --framework reference+trch", "trch"},
      {"net show lenet --framework reference:own", "takes networks, not nodes"},
      {"op check 'Relu 2' --device cpu:7", "cpu:7"},
      {"op check 'Relu 2' --load /proc/self/exe", "/proc/self/exe"},
      {"op check 'Relu 2' --load /no/such/library.so", "/no/such/library.so"},
      {"op check 'Relu 2' --load nowhere.py", "'nowhere.py': there is no such file"},
      {"op check 'Relu 2' --trace /no/such/folder/trace.json", "/no/such/folder/trace.json"},
      {"op check 'Relu 2' --out a.json --trace ./a.json", "--out and --trace are both './a.json'"},
      {"train no-such-recipe", "no-such-recipe"},
      {"train mnist-lenet-quick --set training.epochz=1", "epochs"},
      {"train mnist-lenet-quick --set epochs=1", "training.epochs"},
      {"train mnist-lenet-quick --set model.name=alexnet", "fixed"},
      {"train mnist-lenet-quick --resume", "--checkpoint"},
      {"report /no/such.json", "/no/such.json"},
      {"compare /no/a.json /no/b.json", "/no/a.json"},
      {"--quiet env", "stands before the command"},
      {"env more", "unexpected word 'more'"},
      {"op", "d5 op needs a command: "},
      {"op bench 'Relu 2' --samples", "--samples needs a value: --samples N"},
      {"op bench 'Relu 2' --samples 3 --samples 4", "--samples is given 2 times"},
      {"op bench 'Relu 2' --samples 3x", "--samples: '3x' given, expected an integer"},
      {"op bench 'Relu 2' --samples 99999999999999999999", "expected an integer"},
      {"op bench 'Relu 2' --most-seconds nan", "'nan' given, expected a number > 0, < inf"},
      {"op bench 'Relu 2' --most-seconds inf", "'inf' given, expected a number > 0, < inf"},
      {"op bench 'Relu 2' --seed -1", "'-1' given, expected a whole number of 0 or more"},
      {"op bench 'Relu 2' --pass forwrd", "did you mean forward?"},
      {"env --quiet=5", "--quiet takes no value"},
      {"compare 'Relu 2' 'Relu 2' --fail-above nan", "--fail-above: 'nan' given"},
      {"compare 'Relu 2' 'Relu 2' --retry 2", "--fail-above"},
      {"compare 'Relu 2' 'Relu 2' --batch 3", "--batch is for networks"},
      {"compare 'Relu 2' lenett", "did you mean lenet?"},
      {"compare old.json 'Relu 2'", "'old.json' is a results file and 'Relu 2' is not"},
      {"compare a.json b.json --samples 3", "--samples is for subjects that run now"},
      {"compare a.json b.json --framework torch", "--framework is for subjects that run now"},
      {"op check no-such-cases.txt", "operator or file of cases 'no-such-cases.txt' is unknown"},
      {"op check 'my.Foo 2x3'", "'my'; load your own from its file (--load FILE)"},
      {"op check 'com.microsft.Gelu 2'", "did you mean com.microsoft.Gelu?"},
      {"op check 'Relu@99 2'", "expected an opset from 1 to"},
      {"op check 'Relu@0 2'", "expected an opset from 1 to"},
      {"op check 'Gelu@13 2'", "operator Gelu is not in opset 13"},
      {"op check 'Trilu string:2x3'", "expected strings in braces"},
      {"op check 'Relu 2' --threads 100000", "this process may use"},
      {"op check 'Relu 2' --metrics time", "--metrics"},
      {"op check 'Relu 2' --framework /no/such/plugin.so", "'/no/such/plugin.so' is not there"},
      {"net run lenet --metrics time", "--metrics"},
      {"op check 'Relu 2' --framework torch+reference", "a mix"},
      {"net bench lenet --transform dead-cod", "did you mean dead-code?"},
      {"net show lenet --transform half-precision:type=float8", "float8"},
      {"net run lenet --transform dead-code:deep=true", "deep"},
      {"net run lenet --dim foo=3", "open dimension 'foo' is unknown"},
      {"net show lenet --by nod", "--by"},
      {"net show lenet --framework auto --threads 100000", "this process may use"},
      {"net show lenet --format html", "--memory-plan"},
      {"net show lenet --dim M=3", "did you mean N"},
      {"net save lenet /no/such/folder/lenet.onnx", "/no/such/folder/lenet.onnx"},
      {"net show lenet --out x.json", "--out"},
      {"list samplers --out x.json", "--out"},
      {"list devices cpu", "devices have no options to show"},
      {"list operators Rulu", "did you mean Relu"},
      {"list samplers --framework torch",
       "--framework works with 'd5 list operators' and 'd5 list frameworks' alone"},
      {"list operators --framework trch", "trch"},
      {"net run lenet --dim N=2 --dim N=3", "'N' has a size already"},
      {"train mnist-lenet-quick --framework torch:torch", "own executor"},
      {"train mnist-lenet-quick --checkpoint-every 3", "requires --checkpoint"},
      {"train mnist-lenet-quick --checkpoint /no/such/folder/c", "/no/such/folder/c"},
      {"train mnist-lenet-quick --keep 2", "requires --checkpoint"},
      {"train mnist-lenet-quick --checkpoint c --keep 0", "expected an integer >= 1"},
      {"train mnist-lenet-quick --init-skip-differing", "needs --init"},
      {"train mnist-lenet-quick --init /no/such/file", "/no/such/file"},
      {"train mnist-lenet-quick --save /no/such/folder/n.onnx", "/no/such/folder/n.onnx"},
      {"train mnist-lenet-quick --checkpoint a --save ./a", "--checkpoint and --save are both"},
      {"train mnist-lenet-quick --scaling weak", "start it by mpirun"},
      {"train mnist-lenet-quick --distributed foo", "start it by mpirun"},
      {"optimizer check adm", "did you mean adam"},
      {"optimizer check adam:beta3=1", "beta3"},
      {"optimizer check adam --against adm", "did you mean adam"},
      {"optimizer check adam --steps 1", "a whole number of 2 or more"},
      {"sampler check shufle", "did you mean shuffle?"},
      {"sampler check --dataset imagnet", "did you mean imagenet?"},
      {"sampler check --framework torch", "--framework"},
      {"all-reduce check rings", "did you mean ring?"},
      {"all-reduce check ring:segments=4", "segments"},
      {"all-reduce check segmented_ring:segment_bytes=0", "segment_bytes"},
      {"broadcast check binomal", "did you mean binomial?"},
      {"all-gather bench bruk", "did you mean bruck?"},
      {"reduce-scatter bench --sizes 4Q", "4Q"},
      {"reduce-scatter bench --sizes 6B", "whole float32"},
      {"all-reduce bench --cold-cache", "leave out --cold-cache"},
  }));
  INFO("d5 " << arguments);
  const auto run = run_d5(arguments);
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, StartsWith("d5: error: ") && Contains(message));
}

TEST_CASE("an unknown name is an error even on one rank, which does not use it") {
  if (!transport().present) return;
  const std::string alone = "mpirun -np 1", train = "train mnist-lenet-quick --quiet ";
  const auto all_reduce =
      run_d5(train + "--distributed consistent_decentralized:all_reduce=rings", alone);
  CHECK(all_reduce.status == 2);
  CHECK_THAT(all_reduce.err, Contains("did you mean ring?"));
  const auto scheme = run_d5(train + "--distributed foo", alone);
  CHECK(scheme.status == 2);
  CHECK_THAT(scheme.err, Contains("'foo' is unknown"));
}

TEST_CASE("an error on all ranks is printed once") {
  if (!transport().present) return;
  for (const std::string arguments : {"trian", "train mnist-lenett"}) {
    INFO(arguments);
    const auto run = run_d5(arguments, "mpirun --oversubscribe -np 3");
    CHECK(run.status == 2);
    const std::size_t first = run.err.find("d5: error: ");
    REQUIRE(first != std::string::npos);
    CHECK(run.err.find("d5: error: ", first + 1) == std::string::npos);
  }
}

TEST_CASE("a command over all frameworks expects some to refuse") {
  const std::string bench = "op bench 'Size 2x3' --pass backward --samples 2 --quiet --framework ";
  const auto all = run_d5(bench + "all");
  CHECK(all.status == 0);
  CHECK_THAT(all.out, Contains("unsupported"));
  CHECK(run_d5(bench + "reference").status == 1);
}

TEST_CASE("help fits 100 columns, and a narrow terminal") {
  for (const std::string command : {"", "op", "op bench", "net bench", "train", "compare"}) {
    for (const auto& [launcher, width] :
         {std::pair<std::string, std::size_t>{"", 100}, {"env COLUMNS=72", 72}}) {
      std::istringstream lines(run_d5(command + " --help", launcher).out);
      for (std::string line; std::getline(lines, line);) {
        INFO(line);
        const bool is_one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
        CHECK((line.size() <= width || is_one_word));
      }
    }
  }
}

TEST_CASE("a command of one process is refused on several ranks") {
  if (!transport().present) return;
  const auto run = run_d5("op check 'Relu 2'", "mpirun --oversubscribe -np 2");
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains("'d5 op check' is of one process, and this is one of 2"));
  CHECK(run_d5("op check 'Relu 2'", "mpirun -np 1").status == 0);
}

TEST_CASE("a message that cannot be written loses nothing else") {
  const auto run = run_d5(std::string("op check 'Relu 2' --load ") + D5_PARTS,
                          "sh -c 'exec \"$0\" \"$@\" 2>/dev/full'");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("Relu 2"));
  CHECK(run_d5("op chek", "sh -c 'exec \"$0\" \"$@\" 2>/dev/full'").status == 2);
}

TEST_CASE("printing to a full disk, or nowhere, ends with status 2") {
  for (const std::string command : {"op check 'Relu 2'", "list samplers", "--help", "env", ""}) {
    INFO(command);
    for (const std::string target : {"/dev/full", "&-"}) {
      const auto run = run_d5(command, "sh -c 'exec \"$0\" \"$@\" >" + target + "'");
      CHECK(run.status == 2);
      CHECK_THAT(run.err, Contains("stdout cannot be written"));
    }
  }
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

TEST_CASE("list shows a recipe's file, to copy and change") {
  const auto run = run_d5("list recipes mnist-lenet-quick");
  CHECK(run.status == 0);
  CHECK(run.out ==
        d5::testing::content_of(d5::file_or_carried("recipe", "recipes", "mnist-lenet-quick")));
  const auto unknown = run_d5("list recipes mnist-lenet-quik");
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("did you mean mnist-lenet-quick"));
}

TEST_CASE("list shows an entry's options with types, defaults and ranges") {
  const auto adam = run_d5("list optimizers adam");
  CHECK(adam.status == 0);
  CHECK_THAT(adam.out, Contains("adam: Adam (Kingma and Ba, 2015)") && Contains("learning_rate") &&
                           Contains("0.001") && Contains(">= 0, < 1"));
  CHECK_THAT(run_d5("list samplers shuffle").out, Contains("keep|drop"));
  CHECK_THAT(run_d5("list distributed-optimizers consistent_decentralized").out,
             Contains("all_reduce") && Contains("all-reduce") && Contains("auto"));
  CHECK_THAT(run_d5("list all-reduces ring").out, Contains("no options"));
  CHECK_THAT(run_d5("list optimizers momentum").out, Contains("nesterov=true"));
  const auto rows = nlohmann::json::parse(run_d5("list datasets mnist --format json").out);
  CHECK(rows.at(0).at("option") == "data");  // its own before what all have
  CHECK(run_d5("list optimizers adams").status == 2);
}

TEST_CASE("list operators tells people a matrix, and programs all that is known") {
  const auto matrix = run_d5("list operators");
  CHECK(matrix.status == 0);
  CHECK_THAT(matrix.out,
             Contains("reference") && Contains("\nRelu ") && Contains("/") && Contains("∇"));
  CHECK_THAT(run_d5("list operators Relu").out, Contains("floats") && Contains("1+"));
  const auto rows =
      nlohmann::json::parse(run_d5("list operators --framework reference --format json").out);
  const auto conv =
      std::ranges::find_if(rows, [](const auto& row) { return row.at("operator") == "Conv"; });
  REQUIRE(conv != rows.end());
  CHECK(conv->at("framework") == "reference");
  CHECK(conv->at("opsets") == "1+");
  CHECK(conv->at("gradient types").template get<std::string>().find("float32") !=
        std::string::npos);
  CHECK(std::ranges::all_of(rows,
                            [](const auto& row) { return row.at("framework") == "reference"; }));
}

TEST_CASE("--load serves a plug-in of parts that belong to no framework") {
  const std::string load = std::string(" --load ") + D5_PARTS;
  for (const std::string part : {"transform", "optimizer", "sampler", "all-reduce"}) {
    INFO(part);
    const auto list = run_d5("list " + part + "s" + load);
    CHECK(list.status == 0);
    CHECK_THAT(list.out, Contains("loaded-" + part));
    CHECK(run_d5("list " + part + "s loaded-" + part + load).status == 0);
    CHECK(run_d5("list " + part + "s loaded-" + part).status == 2);
  }
  const std::string train = "train mnist-lenet-quick --quiet --set training.most_batches=1 --set ";
  CHECK_THAT(run_d5(train + "optimizer.name=loaded-optimizer" + load).out, Contains("loss"));
  CHECK(run_d5("list --load /no/such/library.so").status == 2);
}

TEST_CASE("list shows every kind, and each kind's entries") {
  const auto all = run_d5("list");
  CHECK(all.status == 0);
  for (const auto& [kind, entry] : {std::pair{"operators", "Conv"},
                                    {"networks", "lenet"},
                                    {"transforms", "fold-batch-norm"},
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
  CHECK(rows.at(0).at("name") == "bucket");
}
