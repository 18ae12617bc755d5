// SPDX-License-Identifier: Apache-2.0
// Options that are declared once: as a list, on a command line, and back.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/measuring/measure.hpp"

using namespace d5;

namespace {

struct RunOptions {
  enum class Order { drawn, given };
  int rounds = 3;
  double wait = 0.5;
  bool loud = false, exact = true;
  std::string name = "first";
  std::vector<std::string> words = {"a", "b"};
  std::vector<std::int64_t> sizes = {1, 4};
  Order order = Order::drawn;
  std::vector<EntryChoice> steps = {{"decode"}, {"crop", {{"size", 4}}}};

  void declare(OptionList& options) {
    options.add("rounds", rounds, "how often", {.least = 1});
    options.add("wait", wait, "pause between rounds", {.least = 0, .unit = "s"});
    options.add("loud", loud, "say it");
    options.add("exact", exact, "compare to the bit");
    options.add("name", name, "its name",
                {.placeholder = "NAME", .read = [](const std::string& text) {
                   if (text == "none") throw ValueError("it needs a name");
                   return text + "!";
                 }});
    options.add("words", words, "several");
    options.add("sizes", sizes, "several numbers", {.least = 1}).flag = "size";
    options.add("order", order, "how", {"drawn", "given"});
    options.add("steps", steps, "one after another", "step");
  }
};

struct WithOneMore : MeasureOptions {
  int breaks = 0;
  void declare(OptionList& options) {
    MeasureOptions::declare(options);
    options.add("breaks", breaks, "pauses between rounds", {.least = 0});
  }
};

std::string line_of(const Settings& settings) {
  return CommandLine().options(read_options<RunOptions>(settings)).text();
}

}  // namespace

TEST_CASE("an option has a placeholder by its type and unit, and a flag by its name") {
  const auto options = options_of<RunOptions>();
  REQUIRE(options.size() == 9);
  CHECK(options[0].placeholder == "N");
  CHECK(options[1].placeholder == "S");
  CHECK(options[2].placeholder.empty());
  CHECK(options[4].placeholder == "NAME");
  CHECK(options[6].placeholder == "N,...");
  CHECK(options[7].placeholder == "drawn|given");
  CHECK(option_flag(options[0]) == "--rounds");
  CHECK(option_flag(options[2]) == "--loud");
  CHECK(option_flag(options[3]) == "--no-exact");
  CHECK(option_flag(options[6]) == "--size");
  CHECK(options[8].initial == "decode,crop:size=4");
}

TEST_CASE("a command line says what is not as usual, and nothing else") {
  CHECK(line_of({}).empty());
  CHECK(line_of({{"rounds", 3}, {"exact", true}, {"sizes", "1,4"}}).empty());
  CHECK(line_of({{"rounds", 4}}) == " --rounds 4");
  CHECK(line_of({{"wait", 1e-9}}) == " --wait 1e-09");
  CHECK(line_of({{"loud", true}, {"exact", false}}) == " --loud --no-exact");
  CHECK(line_of({{"name", "second"}}) == " --name 'second!'");
  CHECK(line_of({{"words", "c,d e"}}) == " --words 'c,d e'");
  CHECK(line_of({{"sizes", "16"}, {"order", "given"}}) == " --size 16 --order given");
  CHECK(line_of({{"steps", "flip:share=0.5"}}) == " --steps flip:share=0.5");
  RunOptions usual;
  usual.exact = false;
  CHECK(CommandLine().options(RunOptions(), usual).text() == " --exact");
}

TEST_CASE("what is not given stays, entries with their settings") {
  RunOptions options;
  options.steps = {{"resize", {{"size", 8}}}};
  options = read_options<RunOptions>({{"rounds", 9}}, options);
  options = read_options<RunOptions>({{"wait", 2}}, options);
  CHECK(options.rounds == 9);
  CHECK(options.wait == 2);
  REQUIRE(options.steps.size() == 1);
  CHECK(to_words(options.steps[0]) == "resize:size=8");
}

TEST_CASE("a refused value says what was given and expected, with and without its owner") {
  const auto fault = [](const Settings& settings) -> std::string {
    try {
      (void)read_options<RunOptions>(settings);
    } catch (const OptionError& error) {
      CHECK_THAT(error.what(), Catch::StartsWith("settings: option "));
      return error.fault();
    }
    return {};
  };
  CHECK(fault({{"rounds", 0}}) == "'0' given, expected an integer >= 1");
  CHECK(fault({{"rounds", "3x"}}) == "'3x' given, expected an integer");
  CHECK(fault({{"rounds", "3000000000"}}) == "'3000000000' given, expected an integer of 32 bits");
  CHECK(fault({{"wait", "nan"}}) == "'nan' given, expected a number >= 0");
  CHECK(fault({{"wait", "inf"}}) == "'inf' given, expected a finite number >= 0");
  CHECK(fault({{"loud", "perhaps"}}) == "'perhaps' given, expected true or false");
  CHECK(fault({{"sizes", "1,0"}}) == "'0' given, expected an integer >= 1");
  CHECK(fault({{"order", "sorted"}}) == "'sorted' given, expected drawn or given");
  CHECK_THROWS_WITH(read_options<RunOptions>({{"name", "none"}}),
                    "settings: option name: it needs a name");
}

TEST_CASE("a value in quotes is no number, in nested parts neither") {
  Settings::Value text = "3";
  text.is_text = true;
  const std::string expected = "option rounds is the text '3', expected an integer";
  Settings settings;
  settings.set("rounds", text);
  CHECK_THROWS_WITH(read_options<RunOptions>(settings), Catch::EndsWith(expected));
  Settings whole;
  whole.set("part.rounds", text);
  CHECK_THROWS_AS(read_options<RunOptions>(whole.below("part")), TypeError);
  Settings list;
  list.set("sizes", text);
  CHECK_THROWS_AS(read_options<RunOptions>(list), TypeError);
  Settings name;
  name.set("name", text);
  CHECK(read_options<RunOptions>(name).name == "3!");
}

TEST_CASE("one option more of measuring is in its list, its check and its command") {
  const auto options = options_of<WithOneMore>();
  REQUIRE(options.size() == options_of<MeasureOptions>().size() + 1);
  CHECK(options.back().name == "breaks");
  WithOneMore more = read_options<WithOneMore>({{"breaks", 2}, {"samples", 7}});
  CHECK(CommandLine().options(more).text() == " --samples 7 --breaks 2");
  CHECK_THROWS_AS(read_options<WithOneMore>({{"breaks", -1}}), OptionError);
}

TEST_CASE("a command line repeats every option of measuring") {
  for (const Option& option : options_of<MeasureOptions>()) {
    INFO(option.name);
    const std::string value = option.type == "flag" ? "true" : "7";
    const auto given = read_options<MeasureOptions>({{option.name, value}});
    const std::string flag = " " + option_flag(option);
    CHECK(to_line(given) == " --seed 0" + flag + (option.type == "flag" ? "" : " 7"));
  }
  CHECK_THROWS_AS(measure({}, {"time"}, {.samples = 0}), OptionError);
}

TEST_CASE("a message names an option as a call gives it") {
  CHECK(option_word("judge_seconds") == "judge_seconds");
  CHECK(option_word("judge_seconds", 0.5) == "judge_seconds=0.5");
  CHECK(option_word("dim", "n=4") == "dims={'n': 4}");
  CHECK(option_word("transform", "microbatch") == "transforms=['microbatch']");
}

TEST_CASE("a size is read with its unit, or in bytes") {
  struct Sizes {
    std::int64_t bucket = 4096, first = 0;
    void declare(OptionList& options) {
      options.add("bucket", bucket, "minimum size", {.least = 1, .unit = "byte"});
      options.add("first", first, "size of the first; 0: as the others",
                  {.least = 0, .unit = "byte"});
    }
  };
  CHECK(options_of<Sizes>().front().placeholder == "SIZE");
  CHECK(read_options<Sizes>({{"bucket", "25MiB"}}).bucket == 26'214'400);
  CHECK(read_options<Sizes>({{"bucket", "2kB"}, {"first", "0"}}).bucket == 2000);
  CHECK(read_options<Sizes>({{"bucket", "65536"}}).bucket == 65536);
  CHECK_THROWS_WITH(read_options<Sizes>({{"bucket", "25 MB/s B"}}),
                    Catch::Contains("'25 MB/s B'") && Catch::Contains("512MiB"));
  CHECK_THROWS_WITH(read_options<Sizes>({{"bucket", "1.5"}}), Catch::Contains("an integer"));
  CHECK_THROWS_WITH(read_options<Sizes>({{"bucket", "0"}}), Catch::Contains(">= 1"));
}
