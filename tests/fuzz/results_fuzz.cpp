// SPDX-License-Identifier: Apache-2.0
// Results files: read, or refused. What was read is written in every format, without a control
// character, and is the same when it is read again.
#include <fmt/format.h>

#include <algorithm>

#include "core/sample_results.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/core/results/results.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

const std::string& sound() {
  static const std::string text = [] {
    Results results = testing::some_results();
    results.measurements.push_back(results.measurements.front());  // one comes twice
    // Few samples: most damage shall fall on something else.
    for (Measurement& m : results.measurements)
      m.samples.resize(std::min<std::size_t>(6, m.samples.size()));
    return to_json(results);
  }();
  return text;
}

/// The place at which `text` would control a terminal, or empty. `rows`: line feeds end rows.
std::string steering(const std::string& text, std::string_view format) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool ends_row = text[i] == '\n' || (text[i] == '\r' && text.substr(i, 2) == "\r\n");
    const bool c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if ((byte < 0x20 && !ends_row) || byte == 0x7f || c1) {
      return fmt::format("{}: a control character at byte {}: {}", format, i,
                         printable(text.substr(i > 20 ? i - 20 : 0, 40)));
    }
  }
  return {};
}

std::string written(const Results& results) {
  for (const auto& [name, text] :
       {std::pair{"table", to_table(results.measurements)},
        std::pair{"markdown", to_markdown(results.measurements)}, std::pair{"csv", to_csv(results)},
        std::pair{"comparison",
                  to_table(compare_results(results, results)).to_text(Format::table)}}) {
    if (std::string wrong = steering(text, name); !wrong.empty()) return wrong;
  }
  (void)to_gbench(results);
  (void)differences(results, results);
  return {};
}

}  // namespace

std::string name() { return "results"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  return one_in(random, 8) ? with_damage(sound(), random) : with_other_values(sound(), random);
}

std::string run_case(const std::string& text) {
  const Results results = results_from_json(text, "case.json");
  if (std::string wrong = written(results); !wrong.empty()) return wrong;
  const std::string once = to_json(results);
  return to_json(results_from_json(once, "again.json")) == once ? "" : "reads back otherwise";
}

}  // namespace d5::fuzz
