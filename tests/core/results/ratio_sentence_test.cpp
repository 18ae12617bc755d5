// SPDX-License-Identifier: Apache-2.0
#include "core/results/ratio_sentence.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/entries/framework.hpp"

namespace d5 {
namespace {

using detail::ratio_sentence;
using detail::ratio_sentences;

/// A ratio of thirty samples that are all `value`, but for one on each side.
Measurement ratio_of(double value, const std::string& framework, const std::string& base) {
  Measurement m{.subject = "lenet",
                .framework = framework,
                .device = "cpu",
                .metric = "time_ratio",
                .unit = "1",
                .quantity = Quantity::ratio,
                .samples = std::vector<double>(30, value),
                .conditions = {{"base", identity(base)}, {"pass", identity("forward")}}};
  m.samples.front() *= 0.9;
  m.samples.back() *= 1.1;
  return m;
}

}  // namespace

TEST_CASE("a ratio's sentence begins with the faster one") {
  const auto sentence = [](std::vector<JudgedRatio> ratios) {
    return ratio_sentence("A", "B", ratios);
  };
  CHECK(sentence({{0.8, {0.75, 0.85}}}) == "B is 1.25 [1.18, 1.33] times as fast as A");
  CHECK(sentence({{1.25, {1.2, 1.3}}}) == "A is 1.25 [1.2, 1.3] times as fast as B");
  CHECK(sentence({{1.01, {0.97, 1.05}}}) ==
        "B and A are equally fast within 5%: the ratio of their times is 1.01 [0.97, 1.05]");
  CHECK(sentence({{2.5, {0.944, 14.5}}}) ==
        "B or A may be faster: the ratio of their times is 2.5 [0.944, 14.5]");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(sentence({{0.5, {nan, nan}}}) ==
        "B or A may be faster: the ratio of their times is 0.5, of too few samples for an "
        "interval");
  CHECK(sentence({{0.8, {0.75, 0.85}}, {1.25, {1.2, 1.3}}, {0.5, {0.4, 0.6}, true}}) ==
        "B is faster than A in 1 of 3 cases and slower in 1 (1 of these ratios is mistrusted)");
  CHECK_THAT(sentence(std::vector<JudgedRatio>(6, {0.5, {0.4, 0.6}})),
             Catch::Contains("B is 2 [") && Catch::Contains("(geometric mean of 6 cases)"));
  CHECK(sentence({}) == "");
}

TEST_CASE("records of ratios are summed up in a sentence each pass") {
  using Sentences = std::vector<std::string>;
  CHECK(ratio_sentences({}).empty());
  add_framework("swift", "1", [](Framework&) {});
  CHECK(ratio_sentences({ratio_of(0.5, "torch", "swift")}) ==
        Sentences{"forward: torch is 2 [2, 2] times as fast as swift"});
  CHECK(ratio_sentences({ratio_of(0.5, "onednn", "swift"), ratio_of(0.8, "torch", "swift")}) ==
        Sentences{"forward: onednn is 2 [2, 2] times as fast as swift, and the fastest of 3"});
  CHECK(ratio_sentences({ratio_of(4, "onednn", "swift"), ratio_of(2, "torch", "swift")}) ==
        Sentences{"forward: swift is 2 [2, 2] times as fast as torch, and the fastest of 3"});
  // With two subjects in one framework, the base is a subject.
  CHECK(ratio_sentences({ratio_of(0.5, "swift", "resnet-18")}) ==
        Sentences{"forward: lenet is 2 [2, 2] times as fast as resnet-18"});
  Measurement doubted = ratio_of(0.5, "torch", "swift");
  mistrust(doubted, "other work");
  CHECK(ratio_sentences({doubted}) ==
        Sentences{"forward: torch is 2 [2, 2] times as fast as swift (this ratio is mistrusted)"});
  CHECK(ratio_sentences({doubted, ratio_of(0.8, "onednn", "swift")}) ==
        Sentences{"forward: torch is 2 [2, 2] times as fast as swift (this ratio is mistrusted), "
                  "and the fastest of 3"});
}

}  // namespace d5
