// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/result_printer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>

using namespace d5;
using Catch::Contains;

namespace {

Measurement printed_time(const std::string& subject, const std::string& pass,
                         double seconds = 1e-3) {
  Measurement m{.subject = subject,
                .framework = "reference",
                .metric = "time",
                .unit = "s",
                .quantity = Quantity::time};
  m.conditions = {{"pass", identity(pass)}, {"threads", identity(2)}, {"repetitions", aside(8)}};
  for (int i = 0; i < 30; ++i) m.samples.push_back(seconds * (1 + 0.01 * (i % 10)));
  return m;
}

Measurement printed_ratio(const std::string& subject) {
  Measurement m = printed_time(subject, "forward");
  m.samples.assign(30, 0.5);
  m.framework = "torch";
  m.metric = "time_ratio";
  m.unit = "1";
  m.quantity = Quantity::ratio;
  m.conditions["base"] = identity("reference");
  return m;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Characters, not bytes.
std::size_t width_of(const std::string& line) {
  return std::size_t(std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("conditions that are equal in all rows are printed once, above them") {
  CHECK(to_table({printed_time("Relu 8", "forward"), printed_time("Relu 8", "backward", 2e-3)}) ==
        "subject Relu 8; framework reference; device cpu; threads 2; samples 30\n"
        "\n"
        "pass      metric    median    95% interval  status\n"
        "--------  ------  --------  --------------  ------\n"
        "forward   time    1.045 ms  [1.030, 1.060]  passed\n"
        "backward  time    2.090 ms  [2.060, 2.120]  passed\n");
}

TEST_CASE("a row with findings of its own follows the others, whose lines stay whole") {
  std::vector<Measurement> rows;
  for (const char* name : {"Relu 1", "Relu 2", "Relu 3", "Relu 4"}) {
    rows.push_back(printed_time(name, "forward"));
  }
  for (const char* name : {"doubtful", "right", "wrong"}) rows[1].conditions[name] = finding(2);
  CHECK(to_table(rows) ==
        "framework reference; device cpu; pass forward; threads 2; samples 30\n"
        "\n"
        "subject  metric    median    95% interval  status\n"
        "-------  ------  --------  --------------  ------\n"
        "Relu 1   time    1.045 ms  [1.030, 1.060]  passed\n"
        "Relu 3   time    1.045 ms  [1.030, 1.060]  passed\n"
        "Relu 4   time    1.045 ms  [1.030, 1.060]  passed\n"
        "\n"
        "doubtful 2; pass forward; right 2; threads 2; wrong 2; samples 30\n"
        "\n"
        "subject  framework  device  metric    median    95% interval  status\n"
        "-------  ---------  ------  ------  --------  --------------  ------\n"
        "Relu 2   reference  cpu     time    1.045 ms  [1.030, 1.060]  passed\n");
}

TEST_CASE("a count of one sample has no decimals") {
  Measurement nodes = printed_time("lenet", "forward");
  nodes.metric = "reduced_nodes";
  nodes.unit = "1";
  nodes.quantity = Quantity::count;
  nodes.statistic = {.of = Statistic::Of::single};
  const auto printed = [&](double count) {
    nodes.samples = {count};
    return to_markdown({nodes});
  };
  CHECK_THAT(printed(3), Contains("| 3 |"));
  CHECK_THAT(printed(0), Contains("| 0 |"));
  CHECK_THAT(printed(12345), Contains("| 12345 |"));
  CHECK_THAT(printed(2.5), Contains("| 2.50 |"));
}

TEST_CASE("statistics of the number follow it") {
  std::vector<Measurement> rows = {printed_time("Relu 8", "forward"),
                                   printed_time("Relu 8", "backward", 2e-3)};
  for (double mean = 1e-3; Measurement & m : rows) {
    m.samples.assign(3, mean);
    m.conditions["mean"] = finding(mean, "s");
    m.conditions["mean_high"] = finding(mean + 1e-4, "s");
    m.conditions["mean_low"] = finding(mean - 1e-4, "s");
    m.conditions["olympic_mean"] = finding(mean, "s");
    mean += 1e-3;
  }
  CHECK_THAT(to_table(rows),
             Contains("metric   median  mean     mean_high  mean_low  olympic_mean"));
}

TEST_CASE("a condition that is called samples does not pass for their number") {
  std::vector<Measurement> rows = {printed_time("Relu 8", "forward"),
                                   printed_time("Relu 8", "backward", 2e-3)};
  for (Measurement& m : rows) m.conditions["samples"] = identity("partition");
  CHECK_THAT(to_table(rows), Contains("distributed.samples partition; ") &&
                                 Contains("threads 2; samples 30\n") && !Contains("samples  "));
}

TEST_CASE("the mean of a ratio has Student's interval, other means none") {
  Measurement ratio = printed_ratio("Relu 8");
  ratio.samples = {1.02, 0.99, 1.05, 1.01, 1.03};
  ratio.statistic = {.of = Statistic::Of::mean};
  CHECK_THAT(to_table({ratio}), Contains("1.020  [0.992, 1.048]"));
  ratio.quantity = Quantity::other;
  CHECK(std::isnan(estimate(ratio).interval.low));
}

TEST_CASE("a single row has no column left out that names it") {
  CHECK(to_table({printed_time("Relu 8", "forward")}) ==
        "pass forward; threads 2; samples 30\n"
        "\n"
        "subject  framework  device  metric    median    95% interval  status\n"
        "-------  ---------  ------  ------  --------  --------------  ------\n"
        "Relu 8   reference  cpu     time    1.045 ms  [1.030, 1.060]  passed\n");
}

TEST_CASE("a table keeps to 80 and to 120 columns, and cuts no number") {
  const std::string longest =
      "Conv 16x3x224x224 64x3x7x7 pads=3x3x3x3 strides=2x2 dilations=1x1 group=1";
  std::vector<Measurement> rows = {printed_time(longest, "forward"),
                                   printed_time("Relu 8", "backward")};
  rows[1].metric = "communication_volume";
  rows[1].unit = "byte";
  rows[1].samples = std::vector<double>(30, 1725912);
  rows[0].conditions["tensor"] =
      identity("output resnetv17_stage1_conv0_weight_gradient_of_a_long_name");
  rows[1].conditions["tensor"] = identity("gradient of µ-input 2");
  mistrust(rows[0], "other work kept 1.9 of 2 processors busy, while d5 computed on 2 threads");
  for (const int width : {80, 120}) {
    const std::string table = to_table(rows, {.width = width});
    for (const auto& line : lines_in(table)) {
      INFO(line);
      CHECK(width_of(line) <= std::size_t(width));
    }
    CHECK_THAT(table, Contains("[1.030, 1.060]") && Contains("1.72591 MB"));
  }
}

TEST_CASE("reasons that differ by a number within words are shown by the first") {
  std::vector<Measurement> rows;
  for (const std::string shape : {"2x3", "4x5"}) {
    rows.push_back(printed_time("Relu " + shape, "forward"));
    mistrust(rows.back(), "Relu: no kernel for " + shape + " elements");
  }
  CHECK_THAT(to_table(rows),
             Contains("[1] Relu: no kernel for 2x3 elements (and alike in 1 more row)"));
}

TEST_CASE("a reason stands once below, whatever its numbers, and rows name it") {
  std::vector<Measurement> rows;
  for (int i = 0; i < 5; ++i) {
    rows.push_back(printed_time("Relu " + std::to_string(i + 1), "forward"));
    mistrust(rows.back(), "other work kept 1." + std::to_string(i) + " of 2 processors busy");
  }
  mistrust(rows[4], "the samples drift");
  rows.push_back(printed_time("Relu 9", "forward"));
  rows[5].status = Status::failed;
  rows[5].reason = "Relu: it is wrong; nobody knows why";
  for (const auto& text : {to_table(rows), to_markdown(rows)}) {
    CHECK(count_of(text, "other work") == 1);
    CHECK_THAT(text, Contains("[1] other work kept 1.0 to 1.4 of 2 processors busy"));
    CHECK(count_of(text, "mistrusted [1]") == 4);
    CHECK_THAT(text, Contains("mistrusted [1,2]") && Contains("[2] the samples drift"));
    CHECK_THAT(text, Contains("failed [3]") && Contains("[3] Relu: it is wrong; nobody knows why"));
  }
}

TEST_CASE("Markdown tells forward and backward apart, and their reasons") {
  auto forward = printed_time("Relu 8", "forward"), backward = printed_time("Relu 8", "backward");
  mistrust(backward, "the samples drift");
  CHECK(to_markdown({forward, backward}) ==
        "subject Relu 8; framework reference; device cpu; threads 2; samples 30\n"
        "\n"
        "| pass | metric | median | 95% interval | status |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| forward | time | 1.045 ms | [1.030, 1.060] | passed |\n"
        "| backward | time | 1.045 ms | [1.030, 1.060] | mistrusted [1] |\n"
        "\n"
        "- [1] the samples drift\n");
}

TEST_CASE("rows come as they are measured, below titles that came with the first") {
  ResultPrinter printer({}, Format::table, {}, {"Relu 8", "Relu 1000x1000"});
  CHECK(printer.add({printed_time("Relu 8", "forward")}) ==
        "framework reference; device cpu; pass forward; threads 2; samples 30\n"
        "\n"
        "subject         metric         median    95% interval  status\n"
        "--------------  ------  -------------  --------------  --------------\n"
        "Relu 8          time         1.045 ms  [1.030, 1.060]  passed\n");
  CHECK(printer.add({printed_time("Relu 1000x1000", "forward", 2)}) ==
        "Relu 1000x1000  time          2.090 s  [2.060, 2.120]  passed\n");
  // A difference that no column shows begins a new block with such a column.
  CHECK(printer.add({printed_time("Relu 8", "backward")}) ==
        "\n"
        "framework reference; device cpu; threads 2; samples 30\n"
        "\n"
        "subject         pass      metric         median    95% interval  status\n"
        "--------------  --------  ------  -------------  --------------  --------------\n"
        "Relu 8          backward  time         1.045 ms  [1.030, 1.060]  passed\n");
  CHECK(printer.add({printed_time("Relu 8", "forward")}) ==
        "Relu 8          forward   time         1.045 ms  [1.030, 1.060]  passed\n");
  CHECK(printer.end({}) == "");
}

TEST_CASE("a condition in which expected rows differ has a column from the first row on") {
  ResultPrinter printer({}, Format::table, {}, {"Relu 8", "Relu 8"}, {{"pass", "backward"}});
  const std::string first = printer.add({printed_time("Relu 8", "forward")});
  CHECK_THAT(first, !Contains("pass forward") && Contains("forward   time"));
  const std::string second = printer.add({printed_time("Relu 8", "backward")});
  CHECK(lines_in(second).size() == 1);
  CHECK_THAT(second, Contains("backward  time"));
}

TEST_CASE("subjects of several rows are lines above them, whole at any width") {
  std::vector<Measurement> rows;
  for (const std::string subject : {"Relu 8", "Conv 16x3x32x32 8x3x3x3"}) {
    rows.push_back(printed_time(subject, "forward"));
    rows.push_back(printed_time(subject, "backward"));
    Measurement& error = rows.emplace_back(error_record());
    error.subject = subject;
    error.framework = "reference";
    error.samples = {0.5};
  }
  CHECK(to_table(rows, {.width = 80}) ==
        "framework reference; device cpu; threads 2; samples 30\n"
        "\n"
        "pass      metric    median    95% interval  status\n"
        "--------  ------  --------  --------------  ------\n"
        "Relu 8\n"
        "forward   time    1.045 ms  [1.030, 1.060]  passed\n"
        "backward  time    1.045 ms  [1.030, 1.060]  passed\n"
        "          error      0.500                  passed\n"
        "\n"
        "Conv 16x3x32x32 8x3x3x3\n"
        "forward   time    1.045 ms  [1.030, 1.060]  passed\n"
        "backward  time    1.045 ms  [1.030, 1.060]  passed\n"
        "          error      0.500                  passed\n");
}

TEST_CASE("CSV comes line by line under one header, JSON at the end") {
  const Results both{{}, {printed_time("Relu 8", "forward"), printed_time("Relu 8", "backward")}};
  for (const Format format : {Format::csv, Format::json, Format::markdown, Format::gbench}) {
    ResultPrinter printer(both.environment, format);
    std::string text = printer.add({both.measurements[0]});
    CHECK(text.empty() == (format == Format::json || format == Format::gbench));
    text += printer.add({both.measurements[1]});
    text += printer.end(both.environment);
    if (format != Format::markdown) CHECK(text == to_text(both, format));
  }
  ResultPrinter nothing({}, Format::csv);
  CHECK_THAT(nothing.end({}), Catch::StartsWith("subject,level"));
}

TEST_CASE("the width is what COLUMNS says, and 120 where nobody says") {
  setenv("COLUMNS", "80", 1);
  std::FILE* file = std::tmpfile();
  CHECK(screen_of(fileno(file)).width == 80);
  setenv("COLUMNS", "nonsense", 1);
  CHECK(screen_of(fileno(file)).width == 120);
  unsetenv("COLUMNS");
  CHECK(screen_of(fileno(file)).width == 120);
  std::fclose(file);
}

TEST_CASE("colour is for a terminal of one's own, not for that which mpirun lends") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  CHECK(screen_of(terminal).colour == Colour::always);
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  CHECK(screen_of(terminal).colour == Colour::never);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  setenv("NO_COLOR", "1", 1);
  CHECK(screen_of(terminal).colour == Colour::never);
  unsetenv("NO_COLOR");
  close(terminal);
}

TEST_CASE("what the ratios of several cases say together stands at the end of every format") {
  const auto end_of = [](Format format) {
    ResultPrinter printer({}, format, {}, {"Relu 8", "Relu 64"});
    (void)printer.add({printed_time("Relu 8", "forward"), printed_ratio("Relu 8")});
    (void)printer.add({printed_time("Relu 64", "forward"), printed_ratio("Relu 64")});
    return printer.end({});
  };
  CHECK(end_of(Format::table) ==
        "\n"
        "framework  base       pass     cases  geometric mean  95% interval  faster  slower  "
        "undecided  mistrusted\n"
        "---------  ---------  -------  -----  --------------  ------------  ------  ------  "
        "---------  ----------\n"
        "torch      reference  forward      2           0.500  –                  2       0  "
        "        0           0\n"
        "\n– no interval: fewer than 5 cases tell nothing of others\n"
        "\nforward: torch is faster than reference in 2 of 2 cases and slower in 0\n");
  CHECK_THAT(end_of(Format::markdown),
             Contains("| torch | reference | forward | 2 | 0.500 | – | 2 |"));
  const auto csv = lines_in(end_of(Format::csv));
  REQUIRE(csv.size() == 1);
  CHECK_THAT(csv[0], Catch::StartsWith("2 cases,,torch,,cpu,mean_time_ratio,ratio,1,") &&
                         Contains(",2,geometric_mean,"));
  const auto jsonl = lines_in(end_of(Format::jsonl));
  REQUIRE(jsonl.size() == 1);
  CHECK_THAT(jsonl[0], Contains(R"("metric":"mean_time_ratio")") &&
                           Contains(R"("statistic":"geometric_mean")"));
  CHECK_THAT(end_of(Format::json), Contains(R"("summary": [)"));
  CHECK_THAT(end_of(Format::html), Contains("<h2>Ratios</h2>") && Contains("<td>0.500</td>"));
  CHECK(count_of(end_of(Format::gbench), "mean_time_ratio") == 0);
}
