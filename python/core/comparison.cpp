// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/compared_files.hpp"
#include "d5/level1_network/profile/subject_comparison.hpp"
#include "declared_keywords.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

constexpr std::array kAnswers{"held", "broken", "undecided"};

void bind_compared_files(py::module_& m) {
  py::class_<ResultPair>(m, "ResultPair", "A measurement that two results have in common.")
      .def_readonly("a", &ResultPair::a, "The record of A, the older result.")
      .def_readonly("b", &ResultPair::b, "The record of B, the newer result.")
      .def_readonly("ratio", &ResultPair::ratio, "B's statistic / A's.")
      .def_property_readonly(
          "interval",
          [](const ResultPair& pair) { return std::pair(pair.interval.low, pair.interval.high); },
          "Interval of the ratio, with at least 95% confidence; NaN if the statistic has none.")
      .def_readonly("p_value", &ResultPair::p_value, "P-value of the rank test.");
  py::class_<GateFinding>(m, "GateFinding", "Whether a comparison stays within a limit.")
      .def_property_readonly(
          "answer", [](const GateFinding& f) { return kAnswers.at(std::size_t(f.answer)); },
          "\"held\", \"broken\" or \"undecided\".")
      .def_readonly("subject", &GateFinding::subject,
                    "Case, framework and metric that were judged: \"Gemm 8x8 8x8 torch time\".")
      .def_readonly("reason", &GateFinding::reason,
                    "Reason for another answer than \"held\", else empty.")
      .def("__repr__", [](const GateFinding& f) {
        return fmt::format("<d5.GateFinding {}: {}>", f.subject,
                           kAnswers.at(std::size_t(f.answer)));
      });
  py::class_<ComparedFiles>(m, "ComparedFiles", "Comparison of two results files, of B with A.")
      .def_property_readonly(
          "pairs", [](const ComparedFiles& c) { return c.report.pairs; },
          "A d5.ResultPair for each measurement that both files have.")
      .def_property_readonly(
          "table", [](const ComparedFiles& c) { return to_table(c.report.pairs); },
          "A row per pair with its verdict.")
      .def_property_readonly("notes", &notes_of, "Notes to read before the numbers.")
      .def_readonly("findings", &ComparedFiles::findings, "Findings of the gate, if there is one.")
      .def_property_readonly("holds", &ComparedFiles::holds,
                             "Whether every finding of the gate is \"held\"; True without a gate.")
      .def(
          "html", [](const ComparedFiles& c) { return to_html(c.report); },
          "The comparison as an HTML page.")
      .def("__str__", [](const ComparedFiles& c) { return to_text(c, Format::table); });
}

void warn_of_missing(const std::vector<MissingResult>& missing, std::size_t rows) {
  if (missing.empty()) return;
  const auto& [record, reason] = missing.front();
  const std::string words =
      fmt::format("d5.compare: {} of {} rows of a are in no pair; the first is {} {} {}: {}",
                  missing.size(), rows, record.subject, record.framework, record.metric, reason);
  if (PyErr_WarnEx(PyExc_UserWarning, words.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace

void bind_comparison(py::module_& m) {
  bind_compared_files(m);
  m.def(
      "compare",
      [](const std::vector<Measurement>& a, const std::vector<Measurement>& b) {
        if (a.empty() || b.empty()) {
          throw ValueError(fmt::format("d5.compare: {} is [], expected one or more measurements",
                                       a.empty() ? "a" : "b"));
        }
        ResultMatch match;
        {
          const py::gil_scoped_release released;
          match = match_results({.environment = {}, .measurements = a},
                                {.environment = {}, .measurements = b});
        }
        warn_of_missing(match.missing, a.size());
        return std::move(match.pairs);
      },
      py::arg("a"), py::arg("b"),
      "A d5.ResultPair for each measurement that both have, new / old; compare_table prints them. "
      "Warns of rows of `a` that are in no pair.");
  m.def(
      "compare_table", [](const std::vector<ResultPair>& pairs) { return to_table(pairs); },
      py::arg("pairs"), "A table with a verdict for each pair: better, worse, same within noise.");
  m.def(
      "compare_files",
      [](const Path& a, const Path& b, std::vector<std::string> metrics, double fail_above) {
        return compare_files(a.string(), b.string(),
                             {.metrics = std::move(metrics), .fail_above = fail_above});
      },
      py::arg("a"), py::arg("b"), py::kw_only(), py::arg("metrics") = std::vector<std::string>(),
      py::arg("fail_above") = 0.0, py::call_guard<py::gil_scoped_release>(),
      "Compares two results files, new / old: `d5 compare`. With fail_above=1.05, `holds` is True "
      "only if every number is certainly less than 5% worse.");
  m.def(
      "compare_subjects",
      [](const Path& a, const Path& b, const std::vector<std::string>& frameworks,
         std::int64_t batch, const std::vector<std::string>& metrics, std::uint64_t seed,
         double fail_above, int retries, const Options& keywords) {
        auto measuring = read_keywords<MeasureOptions>(keywords, "d5.compare_subjects");
        measuring.seed = seed;
        std::vector<Measurement> rows;
        long_call([&](const Interrupt& interrupt) {
          measuring.interrupt = interrupt;
          rows = compare_subjects(a.string(), b.string(),
                                  {.frameworks = frameworks,
                                   .batch = batch,
                                   .metrics = {metrics.begin(), metrics.end()},
                                   .measuring = measuring,
                                   .fail_above = fail_above,
                                   .retries = retries})
                     .records;
        });
        return Measurements(rows);
      },
      py::arg("a"), py::arg("b"), py::kw_only(),
      py::arg("frameworks") = std::vector<std::string>{"reference"}, py::arg("batch") = 1,
      py::arg("metrics") = std::vector<std::string>{"time"}, py::arg("seed") = 0,
      py::arg("fail_above") = 0.0, py::arg("retries") = 0,
      "Runs two operators or two networks now, interleaved, in one framework or one each, and "
      "compares them: `d5 compare`. The last row is the ratio of B's time to A's. With fail_above "
      "it is failed if the ratio is certainly above, and mistrusted if noise hides the answer.");
  tell_keywords(m, "compare_subjects", options_of<MeasureOptions>());
}

}  // namespace d5::python
