// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level3_distributed/collectives/collective_bench.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"
#include "d5/level3_distributed/collectives/collective_validation.hpp"
#include "declared_keywords.hpp"
#include "level3_distributed/communication_graph.hpp"
#include "level3_distributed/job.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

const CollectiveKind& kind_of_word(const std::string& word) {
  std::vector<std::string> words;
  for (const CollectiveKind& kind : collective_kinds()) {
    if (kind.word == word) return kind;
    words.push_back(kind.word);
  }
  throw_unknown_name("kind of collective", word, words);
}

std::shared_ptr<Communicator> given_or_job(std::shared_ptr<Communicator> ranks) {
  return ranks ? std::move(ranks) : job_of_python();
}

Measurements check_by_word(const std::string& kind, const std::string& algorithm,
                           std::shared_ptr<Communicator> ranks, std::uint64_t seed) {
  const CollectiveKind& of = kind_of_word(kind);
  const auto all = given_or_job(std::move(ranks));
  std::vector<Measurement> rows;
  long_call([&](const Interrupt&) {
    rows = check_collective(of.call, entry_of_words(of.word, algorithm), *all, seed);
  });
  return Measurements(rows);
}

Measurements bench_by_words(const std::string& kind, const std::vector<std::string>& algorithms,
                            std::vector<std::int64_t> sizes, std::shared_ptr<Communicator> ranks,
                            const Options& keywords) {
  const CollectiveKind& of = kind_of_word(kind);
  CollectiveBenchOptions options{
      .sizes = std::move(sizes),
      .measuring = read_keywords<MeasureOptions>(keywords, "d5.bench_collective")};
  for (const auto& word : algorithms) options.algorithms.push_back(entry_of_words(of.word, word));
  const auto all = given_or_job(std::move(ranks));
  std::vector<Measurement> rows;
  long_call([&](const Interrupt& interrupt) {
    options.measuring.interrupt = interrupt;
    rows = bench_collective(of.call, options, *all);
  });
  return Measurements(rows);
}

}  // namespace

void bind_collective_checks(py::module_& m) {
  m.def("check_collective", &check_by_word, py::arg("kind"), py::arg("algorithm"), py::kw_only(),
        py::arg("ranks") = nullptr, py::arg("seed") = 0,
        "Validates an algorithm on all ranks: `d5 all-reduce check`. `kind`: all-reduce, "
        "broadcast, reduce-scatter or all-gather; `algorithm`: \"ring:segments=4\", or one of your "
        "own by its name. A collective.");
  m.def("bench_collective", &bench_by_words, py::arg("kind"),
        py::arg("algorithms") = std::vector<std::string>(), py::kw_only(),
        py::arg("sizes") = std::vector<std::int64_t>(), py::arg("ranks") = nullptr,
        "Benchmarks algorithms of one kind, interleaved size by size (bytes), with a check of the "
        "results before and after the measurement; the rows are rank 0's. A collective.");
  m.def(
      "collective_text",
      [](const std::vector<Measurement>& rows) { return collective_text(rows, Format::table); },
      py::arg("rows"),
      "Prints rows of `bench_collective` for people: one line per size for one algorithm; tables "
      "of "
      "size by algorithm, for time and bus bandwidth, for several.");
  tell_keywords(m, "bench_collective", options_of<MeasureOptions>());
}

}  // namespace d5::python
