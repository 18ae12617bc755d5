// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <regex>

#include "d5/core/results/results.hpp"
#include "tests/apps/program_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
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
  CHECK_THAT(above.err,
             Contains("--fail-above 1.5: failed: Gemm 8x8 8x8 reference time: certainly"));
  CHECK(run_d5("compare " + files + " --fail-above 2.5").status == 0);
  const auto close = run_d5("compare " + files + " --fail-above 2");
  CHECK(close.status == 3);
  CHECK_THAT(close.err, Contains("--fail-above 2: cannot tell: Gemm 8x8 8x8 reference time"));
  const auto same =
      run_d5("compare " + (folder / "a.json") + " " + (folder / "a.json") + " --format json");
  CHECK(nlohmann::json::parse(same.out).at(0).at("verdict") == "same within noise");
}

TEST_CASE("a comparison of files takes the metrics that --only names, and so does its gate") {
  const TemporaryFolder folder;
  Measurement once = timed("reference", {3}), batches = timed("reference", around(1.0));
  batches.metric = "batch_time";
  write_results({environment(), {once, batches}}, folder / "a.json");
  const std::string files =
      "compare " + (folder / "a.json") + " " + (folder / "a.json") + " --fail-above 1.05";
  const auto all = run_d5(files);
  CHECK(all.status == 3);  // a time that was taken once
  CHECK_THAT(all.err, Contains("--only batch_time"));
  const auto chosen = run_d5(files + " --only batch_time");
  CHECK(chosen.status == 0);
  CHECK_THAT(chosen.out, Contains("batch_time") && !Contains(" time "));
  const auto unknown = run_d5(files + " --only batch_tim");
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
  CHECK(run.status == 3);
  CHECK_THAT(run.err, Contains("B is mistrusted: the samples drift"));
}

TEST_CASE("a pair that is certainly worse fails a gate, although others are undecided") {
  const TemporaryFolder folder;
  const auto both = [](const Measurement& first, Measurement second) {
    second.subject = "Relu 8";
    return Results{environment(), {first, std::move(second)}};
  };
  Measurement doubtful = timed("reference", around(1.0));
  mistrust(doubtful, "the samples drift");
  const Measurement fast = timed("reference", around(1.0)), slow = timed("reference", around(2.0));
  write_results(both(fast, fast), folder / "a.json");
  const auto status_of = [&](const Results& b) {
    write_results(b, folder / "b.json");
    return run_d5("compare " + (folder / "a.json") + " " + (folder / "b.json") +
                  " --fail-above 1.5")
        .status;
  };
  CHECK(status_of(both(fast, fast)) == 0);
  CHECK(status_of(both(slow, fast)) == 1);
  CHECK(status_of(both(doubtful, fast)) == 3);
  CHECK(status_of(both(slow, doubtful)) == 1);
  CHECK(status_of(both(doubtful, slow)) == 1);
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
  CHECK(run.status == 3);
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
  // The note that it names; reasons of rows above have the first numbers.
  std::smatch note;
  REQUIRE(std::regex_search(run.out, note, std::regex(R"(unsupported (\[\d\]))")));
  CHECK_THAT(run.out, Contains("\n" + note.str(1)) && Contains("operator Relu"));
  const auto gated = run_d5(pair + " --fail-above 2");
  CHECK(gated.status == 3);
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
  CHECK(run_d5("compare " + files + " --fail-above 2").status == 3);
}

TEST_CASE("compare pairs results of one rank with those of two, and says what differs") {
  const TemporaryFolder folder;
  Measurement one = timed("reference", around(2.0)), two = timed("torch", around(1.0));
  one.level = "training";
  two.level = "distributed training";
  two.conditions["ranks"] = identity(2);
  Measurement of_rank = two;
  of_rank.conditions["rank"] = identity(1);
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
