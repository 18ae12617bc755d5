// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/core/results/results.hpp"
#include "d5/core/trace/timeline.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/core/markup_check.hpp"

using namespace d5;
using Catch::Contains;
using Catch::StartsWith;
using testing::breach_of_markup;
using testing::run_d5;
using testing::TemporaryFolder;

namespace {

Measurement timed_row(const std::string& subject, double center) {
  Measurement m{.subject = subject,
                .framework = "torch",
                .metric = "time",
                .unit = "s",
                .quantity = Quantity::time};
  for (int i = 0; i < 40; ++i) m.samples.push_back(center * (1 + 0.0005 * ((i * 7) % 40 - 20)));
  return m;
}

/// a.json and b.json, in which all takes twice as long, and a.trace.json.
struct Files : TemporaryFolder {
  Files() {
    write_results({environment(), {timed_row("Relu 8", 1), timed_row("Tanh 8", 2)}},
                  *this / "a.json");
    write_results({environment(), {timed_row("Relu 8", 2), timed_row("Tanh 8", 4)}},
                  *this / "b.json");
    Timeline timeline;
    timeline.ranks = {{.rank = 0}};
    timeline.lanes = {{.rank = 0, .number = 1, .name = "main"}};
    timeline.records = {
        {.rank = 0, .lane = 1, .id = 1, .end_ns = 5000, .level = "network", .name = "inference"}};
    write_timeline(timeline, *this / "a.trace.json");
  }
  [[nodiscard]] std::string a() const { return *this / "a.json"; }
  [[nodiscard]] std::string b() const { return *this / "b.json"; }
  [[nodiscard]] std::string trace() const { return *this / "a.trace.json"; }
};

}  // namespace

TEST_CASE("report makes one page of results and a trace") {
  const Files files;
  const auto run = run_d5("report " + files.a() + " " + files.trace() + " --format html");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(breach_of_markup(run.out) == "");
  CHECK_THAT(run.out, Contains("Time, all samples") && Contains("Timeline") && Contains("Relu 8") &&
                          Contains("<h2>Environment</h2>"));
}

TEST_CASE("report draws one plot, and names all for a misspelt one") {
  const Files files;
  const auto run = run_d5("report " + files.a() + " --format svg --plot samples-time");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, StartsWith("<svg") && Contains("Time, all samples"));
  CHECK_THAT(run_d5("report " + files.trace() + " --format svg").out, Contains("Timeline"));
  const auto unknown = run_d5("report " + files.a() + " --format svg --plot sample-time");
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("did you mean samples-time"));
  CHECK(run_d5("report " + files.a() + " --plot time").status == 2);
  CHECK(run_d5("report " + files.trace()).status == 2);  // nothing to list
}

TEST_CASE("a PNG is drawn into a file, or refused with the reason") {
  const Files files;
  const auto run = run_d5("report " + files.a() + " --format png");
  if (run.status == 0) {
    CHECK(run.out.substr(1, 3) == "PNG");
  } else {
    CHECK_THAT(run.err, Contains("cannot be loaded"));
  }
}

TEST_CASE("compare puts two files side by side on one page") {
  const Files files;
  const auto run = run_d5("compare " + files.a() + " " + files.b() + " --format html --quiet");
  CHECK(run.status == 0);
  CHECK(breach_of_markup(run.out) == "");
  CHECK_THAT(run.out, Contains("<h2>Comparison</h2>") && Contains("B / A") && Contains("worse") &&
                          Contains("torch, " + files.a()));
}

TEST_CASE("JSON Lines are an object a record, and a row of a list") {
  const Files files;
  const auto run = run_d5("report " + files.a() + " --format jsonl");
  CHECK(run.status == 0);
  const std::size_t end = run.out.find('\n');
  CHECK(nlohmann::json::parse(run.out.substr(0, end)).at("subject") == "Relu 8");
  CHECK(nlohmann::json::parse(run.out.substr(end)).at("subject") == "Tanh 8");
  const auto list = run_d5("list samplers --format jsonl").out;
  CHECK(nlohmann::json::parse(list.substr(0, list.find('\n'))).at("name") == "bucket");
}

TEST_CASE("a list has no picture, and says so") {
  const auto run = run_d5("list samplers --format html");
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("expected csv, json, jsonl, markdown, table"));
}

TEST_CASE("completion and manual know every command and every option of its help") {
  const auto manual = run_d5("man");
  CHECK(manual.status == 0);
  CHECK_THAT(manual.out, StartsWith(".TH D5 1") && Contains(".SS d5 op check CASE..."));
  for (const char* shell : {"bash", "zsh", "fish"}) {
    INFO(shell);
    const auto run = run_d5(std::string("completion ") + shell);
    CHECK(run.status == 0);
    for (const char* word : {"report", "check", "plot", "framework", "samples", "jsonl"}) {
      CHECK_THAT(run.out, Contains(word));
      CHECK_THAT(manual.out, Contains(word));
    }
  }
  CHECK(run_d5("completion tcsh").status == 2);
}

TEST_CASE("bash completes commands, options and their words") {
  const TemporaryFolder folder;
  testing::write(folder / "d5.bash", run_d5("completion bash").out);
  const auto completed = [&](const std::string& words, int word) {
    testing::write(folder / "try.bash", "source " + (folder / "d5.bash") + "\nCOMP_WORDS=(" +
                                            words + ")\nCOMP_CWORD=" + std::to_string(word) +
                                            "\n_d5\nprintf '%s ' \"${COMPREPLY[@]}\" >" +
                                            (folder / "out") + "\n");
    CHECK(std::system(("bash " + (folder / "try.bash")).c_str()) == 0);
    return testing::content_of(folder / "out");
  };
  CHECK(completed("d5 op ''", 2) == "bench build check judge --help ");
  CHECK(completed("d5 op check --fo", 3) == "--format ");
  CHECK(completed("d5 op bench x --pass ''", 5) ==
        "forward backward backward-data backward-weights both each ");
  CHECK(completed("d5 rep", 1) == "report ");
  CHECK(completed("d5 completion f", 2) == "fish ");
  CHECK(completed("d5 train mnist-lenet-q", 2) == "mnist-lenet-quick ");
  CHECK(completed("d5 net bench lene", 3) == "lenet ");
  CHECK(completed("d5 op bench --framework ref", 4) == "reference ");
  CHECK(completed("d5 op bench --framework auto,ref", 4) == "auto,reference ");
  CHECK(completed("d5 net run lenet --transform dead", 5) == "dead-code ");
}

TEST_CASE("the manual holds no request that its text began by chance") {
  const auto manual = run_d5("man").out;
  std::istringstream lines(manual);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || (line[0] != '.' && line[0] != '\'')) continue;
    const std::string request = line.substr(0, line.find(' '));
    INFO(line);
    const bool known = request == ".TH" || request == ".SH" || request == ".SS" ||
                       request == ".TP" || request == ".PP" || request == ".nf" ||
                       request == ".fi" || request == ".B";
    CHECK(known);
  }
}

TEST_CASE("report prints results files as table, CSV and Markdown, and keeps their verdict") {
  const TemporaryFolder folder;
  Measurement bad = timed_row("Relu 8", 1);
  bad.status = Status::failed;
  bad.reason = "it was wrong";
  write_results({environment(), {timed_row("Relu 8", 1)}}, folder / "good.json");
  write_results({environment(), {bad}}, folder / "bad.json");
  const auto good = run_d5("report " + (folder / "good.json"));
  CHECK(good.status == 0);
  CHECK_THAT(good.out, Contains("Relu 8"));
  const auto both = run_d5("report " + (folder / "good.json") + " " + (folder / "bad.json") +
                           " --format markdown");
  CHECK(both.status == 1);
  CHECK_THAT(both.out, Contains("subject Relu 8") && Contains("| failed [1] |") &&
                           Contains("- [1] it was wrong"));
}
