// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/stop_text_cut.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace d5::detail {
namespace {

TEST_CASE("what may begin a stop text is held back until it is clear") {
  StopTextCut cut({"END", "\n\n"});
  CHECK(cut.next("ab\n") == "ab");
  CHECK(cut.next("cE") == "\nc");
  CHECK(cut.next("N") == "");
  CHECK(cut.next("d") == "ENd");
  CHECK(cut.next("x\n\ny") == "x");
  CHECK(cut.next("more") == "");
  CHECK(cut.rest() == "");
  StopTextCut open({"END"});
  CHECK(open.next("xEN") == "x");
  CHECK(open.rest() == "EN");
}

TEST_CASE("however a text is cut into pieces, it ends before its first stop text") {
  const std::string text = "aabaabaaabcabcab";
  const std::vector<std::string> stops{"aaab", "abca", "bc"};
  std::size_t met = text.size();
  for (const std::string& stop : stops) met = std::min(met, text.find(stop));
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      StopTextCut cut(stops);
      std::string all = cut.next(text.substr(0, first));
      all += cut.next(text.substr(first, second - first));
      all += cut.next(text.substr(second));
      CHECK(all + cut.rest() == text.substr(0, met));
    }
  }
}

}  // namespace
}  // namespace d5::detail
