// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "bindings.hpp"
#include "collected.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "declared_keywords.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// A verdict with its records.
struct RecordedVerdict {
  SourceVerdict verdict;
  std::vector<Measurement> records;
};

RecordedVerdict judge(const std::string& source,
                      const std::variant<std::string, std::vector<std::string>>& cases,
                      std::optional<std::uint64_t> seed, const Options& keywords) {
  JudgeOptions options = read_keywords<JudgeOptions>(keywords, "d5.judge");
  options.seed = seed;
  if (seed) options.command_options = CommandLine().option("--seed", *seed).text();
  const auto* one = std::get_if<std::string>(&cases);
  const auto words = one ? std::vector{*one} : std::get<std::vector<std::string>>(cases);
  RecordedVerdict result;
  long_call([&](const Interrupt& interrupt) {
    options.interrupt = interrupt;
    std::vector<CaseLine> lines;
    for (const auto& word : words) {
      std::ranges::move(read_case_words({word}), std::back_inserter(lines));
    }
    result.records = judge_source(source, lines, options);
    result.verdict = verdicts_of(result.records).front();
  });
  return result;
}

std::string verdict_text(const SourceVerdict& verdict) {
  std::string text = fmt::format("<d5.Verdict {}: {}, {} of {} cases", printable(verdict.source),
                                 verdict.word(), verdict.right_cases, verdict.cases);
  if (!verdict.base.empty() && verdict.right()) {
    text += fmt::format(", {:.3f} [{:.3f}, {:.3f}] of {}'s time", verdict.ratio,
                        verdict.interval.low, verdict.interval.high, verdict.base);
  }
  return text + ">";
}

}  // namespace

void bind_judge(py::module_& m) {
  const auto property = [](auto member) {
    return [member](const RecordedVerdict& one) { return one.verdict.*member; };
  };
  py::class_<RecordedVerdict>(m, "Verdict", "What a judge says of a source: d5.judge.")
      .def_property_readonly(
          "right", [](const RecordedVerdict& one) { return one.verdict.right(); },
          "Whether every answer of every case was right.")
      .def_property_readonly("ratio", property(&SourceVerdict::ratio),
                             "Geometric mean over the cases of its time by the base's; NaN without "
                             "a base, and for a wrong source.")
      .def_property_readonly(
          "interval",
          [](const RecordedVerdict& one) {
            return std::pair(one.verdict.interval.low, one.verdict.interval.high);
          },
          "95% interval of `ratio` for these very cases; NaN for too few samples.")
      .def_property_readonly("base", property(&SourceVerdict::base),
                             "First framework of `against`; empty: none.")
      .def_property_readonly("times_floor", property(&SourceVerdict::times_floor),
                             "Geometric mean of its time by the machine's floor; NaN if unknown.")
      .def_property_readonly("reasons", property(&SourceVerdict::reasons),
                             "Why a case is wrong, or its number doubted: \"CASE PASS: reason\".")
      .def_property_readonly("sha256", property(&SourceVerdict::sha256), "Digest of the source.")
      .def_property_readonly(
          "records", [](const RecordedVerdict& one) { return Measurements(one.records); },
          "All records, as `d5 op judge --out` writes them.")
      .def("__repr__", [](const RecordedVerdict& one) { return verdict_text(one.verdict); });
  m.def(
      "judge",
      [](const Path& source, const std::variant<std::string, std::vector<std::string>>& cases,
         std::optional<std::uint64_t> seed,
         const Options& keywords) { return judge(source.string(), cases, seed, keywords); },
      py::arg("source"), py::arg("cases"), py::kw_only(), py::arg("seed") = py::none(),
      "Judges an operator's source that is not trusted: `d5 op judge`. `source` is a file in C or "
      "C++ against d5/abi.h or in Python, or a text in C++. `cases` are cases, or files of them. "
      "Each call has fresh inputs, in a confined process; without a seed, the system draws one. "
      "Judgements at the same time, in any process, wait for processors of their own: one for the "
      "judge and one for each thread. The condition 'fault' of a failed record names what the "
      "source did.");
  tell_keywords(m, "judge", options_of<JudgeOptions>());
  m.def("judge_board", &judge_board, py::arg("records"),
        "Judged sources, the fastest right one first: `d5 report --board`. `records` are those of "
        "several verdicts, or of files.\n\n"
        "    sources = [\"tiled.cpp\", \"naive.cpp\"]\n"
        "    verdicts = [d5.judge(source, \"MatMul 64x64 64x64\") for source in sources]\n"
        "    print(d5.judge_board([row for one in verdicts for row in one.records]))");
}

}  // namespace d5::python
