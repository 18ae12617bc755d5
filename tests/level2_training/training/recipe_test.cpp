// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/recipe.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/training_session.hpp"

using namespace d5;

namespace {

const std::string kSmall = R"(name: small
summary: for tests
fixed:
  dataset: {name: mnist, subset: sample}
  model: {name: lenet}
mutable:
  optimizer:
    name: momentum
    learning_rate: 0.02
  training: {epochs: 1, seed: 1}
  metrics:
    time_to_accuracy: {target: 0.9}
    dataset_bias: {}
acceptable:
  test_accuracy: {at_least: 0.9, of: best}
  epoch_time: {at_most: 60}
)";

Recipe small_recipe() { return Recipe::parse(kSmall, "small.yaml"); }

/// The message of what parsing `text` throws.
std::string complaint(const std::string& text) {
  try {
    (void)Recipe::parse(text, "r.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing is wrong";
}

/// `kSmall` with its first `what` replaced.
std::string with(const std::string& what, const std::string& replacement) {
  std::string text = kSmall;
  const std::size_t place = text.find(what);
  REQUIRE(place != std::string::npos);
  return text.replace(place, what.size(), replacement);
}

}  // namespace

TEST_CASE("a recipe's values are found under dotted keys, with their part") {
  const Recipe recipe = small_recipe();
  CHECK(recipe.name() == "small");
  CHECK(recipe.values().at("optimizer.learning_rate").text == "0.02");
  CHECK(recipe.values().at("optimizer.learning_rate").line == 9);
  CHECK_FALSE(recipe.values().at("optimizer.learning_rate").fixed);
  CHECK(recipe.values().at("model.name").fixed);
  CHECK(recipe.section("optimizer").number("learning_rate", 0) == 0.02);
  CHECK(recipe.names_below("metrics") ==
        std::vector<std::string>{"dataset_bias", "time_to_accuracy"});
  REQUIRE(recipe.acceptable().size() == 2);
  CHECK(recipe.acceptable()[0].metric == "test_accuracy");
  CHECK(recipe.acceptable()[0].value == 0.9);
  CHECK(recipe.acceptable()[0].of == Statistic{.of = Statistic::Of::best});
  CHECK(recipe.acceptable()[1].bound == Recipe::Acceptable::Bound::at_most);
}

TEST_CASE("a section names an entry and its settings, some of them for an entry of that one") {
  const Recipe recipe =
      Recipe::parse(with("  optimizer:\n",
                         "  distributed: {all_reduce: {name: ring, parts: 2}, bucket_bytes: 1}\n"
                         "  optimizer:\n"),
                    "small.yaml");
  const EntryChoice scheme = recipe.choice("distributed", "usual");
  CHECK(scheme.name == "usual");
  CHECK(scheme.settings.text("all_reduce.name", "") == "ring");
  CHECK(scheme.settings.text("all_reduce.parts", "") == "2");
  CHECK(scheme.settings.text("bucket_bytes", "") == "1");
  CHECK(scheme.settings.owned_by("scheme").place_of("bucket_bytes") == "small.yaml:7: scheme");
  const EntryChoice optimizer = recipe.choice("optimizer");
  CHECK(optimizer.name == "momentum");
  CHECK(optimizer.settings.values().size() == 1);
  CHECK(recipe.training().epochs == 1);
  CHECK(recipe.training().test_batch_size == 250);
}

TEST_CASE("the mutable part may be changed, the fixed part may not") {
  Recipe recipe = small_recipe();
  recipe.set("optimizer.learning_rate=0.5");
  CHECK(recipe.section("optimizer").number("learning_rate", 0) == 0.5);
  CHECK(recipe.command().text() == "d5 train small.yaml --set optimizer.learning_rate=0.5");
  CHECK_THROWS_WITH(recipe.set("model.name=alexnet"),
                    Catch::Contains("fixed") && Catch::Contains("small.yaml:5"));
  CHECK_THROWS_AS(recipe.set("model.name=alexnet"), ValueError);
  CHECK_THROWS_WITH(recipe.set("optimizer.learning_rat=1"),
                    Catch::Contains("optimizer.learning_rate"));
  CHECK_THROWS_AS(recipe.set("training.epoch=1"), NotFound);
  CHECK_THROWS_AS(recipe.set("training.epochs"), ValueError);
}

TEST_CASE("another scheme begins with options of its own, and leaves who reads what") {
  Recipe recipe = small_recipe();
  for (const char* change :
       {"distributed.samples=shards", "distributed.test_samples.name=batches",
        "distributed.scaling=weak", "distributed.bucket_bytes=1", "distributed.name=other"}) {
    recipe.set(change);
  }
  const Settings settings = recipe.choice("distributed").settings;
  CHECK(settings.text("samples", "") == "shards");
  CHECK(settings.text("test_samples.name", "") == "batches");
  CHECK(settings.text("scaling", "") == "weak");
  CHECK_FALSE(settings.has("bucket_bytes"));
}

TEST_CASE("the checksum changes with what is trained, not with how long or what is watched") {
  const std::string sum = small_recipe().checksum();
  CHECK(sum.size() == 64);
  const auto after = [](const std::string& change) {
    Recipe recipe = small_recipe();
    recipe.set(change);
    return recipe.checksum();
  };
  CHECK(after("training.epochs=9") == sum);
  CHECK(after("metrics.time_to_accuracy.target=0.5") == sum);
  CHECK(after("optimizer.learning_rate=0.03") != sum);
  CHECK(after("training.seed=2") != sum);
  CHECK(Recipe::parse(with("0.9, of: best", "0.1"), "r").checksum() == sum);
}

TEST_CASE("a misspelt word is answered with file, line and the nearest word") {
  CHECK_THAT(complaint(with("acceptable:", "aceptable:")),
             Catch::Contains("r.yaml:14") && Catch::Contains("acceptable"));
  CHECK_THAT(complaint(with("  model:", "  modell:")),
             Catch::Contains("r.yaml:5") && Catch::Contains("model"));
  CHECK_THAT(complaint(with("epochs", "epoch")),
             Catch::Contains("r.yaml:10") && Catch::Contains("epochs"));
  CHECK_THAT(complaint(with("at_least", "atleast")),
             Catch::Contains("r.yaml:15") && Catch::Contains("at_least"));
}

TEST_CASE("an option below another section is refused with its own") {
  CHECK_THAT(complaint(with("{epochs: 1", "{batch_size: 8")),
             Catch::StartsWith("r.yaml:10: training: option 'batch_size' is unknown; did you mean "
                               "sampler.batch_size?"));
  CHECK_THAT(complaint(with("learning_rate: 0.02", "epochs: 2")),
             Catch::StartsWith("r.yaml:9: optimizer: option 'epochs' is unknown; did you mean "
                               "training.epochs?"));
  Recipe recipe = small_recipe();
  CHECK_THROWS_WITH(recipe.set("training.batch_size=8"),
                    Catch::Contains("did you mean sampler.batch_size?"));
}

TEST_CASE("lines of values in memory are named by their places, and their texts are no numbers") {
  const auto parse = [](const std::string& epochs) {
    return Recipe::parse(
        "name: a\nfixed: {dataset: {name: mnist}, model: {name: lenet}}\n"
        "mutable: {optimizer: {name: sgd}, training: {\n  epochs: " +
            epochs + "}}\n",
        "r", {"name", "fixed", "mutable", "mutable.training.epochs"});
  };
  CHECK(parse("3").training().epochs == 3);
  CHECK(parse("3").place_of(4) == "r:mutable.training.epochs");
  CHECK_THROWS_WITH(parse("three"), Catch::StartsWith("r:mutable.training.epochs: training: "));
  CHECK_THROWS_AS(parse("'3'"), TypeError);
  CHECK(small_recipe().type_of("training.epochs") == "integer");
  CHECK(small_recipe().type_of("metrics.time_to_accuracy.target") == "number");
  CHECK(small_recipe().type_of("training.nothing").empty());
}

TEST_CASE("lists are values between commas, or entries by their places") {
  struct Options {
    std::vector<double> mean{0.5};
    std::vector<EntryChoice> steps{{"decode"}};
    void declare(OptionList& options) {
      options.add("mean", mean, "mean of each channel", {.least = 0});
      options.add("steps", steps, "one after another", "step");
    }
  };
  const auto recipe = [](const std::string& value) {
    return Recipe::parse(with("name: momentum\n", "name: momentum\n    list: " + value + "\n"),
                         "r.yaml");
  };
  const auto options = [&](const std::string& name, const std::string& value) {
    Settings settings;
    const Settings given = recipe(value).section("optimizer");
    for (const auto& [key, text] : given.values()) {
      if (key.starts_with("list")) settings.set(name + key.substr(4), text);
    }
    return read_options<Options>(settings);
  };
  CHECK(options("mean", "[0.25, 1, 2]").mean == std::vector{0.25, 1.0, 2.0});
  CHECK(options("mean", "3").mean == std::vector{3.0});
  CHECK(options("mean", "[]").mean.empty());
  CHECK_THROWS_AS(options("mean", "[1, -1]"), ValueError);
  CHECK_THROWS_AS(options("mean", "[1, two]"), ValueError);
  CHECK_THROWS_AS(options("mean", "[1, {a: 2}]"), NotFound);

  const auto words = options("steps", "[decode, flip]").steps;
  REQUIRE(words.size() == 2);
  CHECK(words[1].name == "flip");
  const auto maps = options("steps", "[decode, {name: crop, size: 8}, flip]").steps;
  REQUIRE(maps.size() == 3);
  CHECK(maps[1].name == "crop");
  CHECK(maps[1].settings.integer("size", 0) == 8);
  CHECK(maps[2].name == "flip");
  CHECK_THROWS_AS(options("steps", "[decode, {size: 8}]"), ValueError);
  CHECK_THROWS_AS(options("steps", "{first: decode}"), ValueError);
  CHECK_THAT(complaint(with("0.02", "['1,2', 3]")), Catch::Contains("commas"));

  Recipe changed = recipe("[decode, {name: crop, size: 8}]");
  changed.set("optimizer.list.1.size=6");
  CHECK(changed.section("optimizer").integer("list.1.size", 0) == 6);
}

TEST_CASE("a key that a recipe lacks or has twice is named") {
  CHECK_THAT(complaint(with("name: small\n", "")), Catch::Contains("'name'"));
  CHECK_THAT(complaint(with("    name: momentum\n", "")), Catch::Contains("optimizer.name"));
  CHECK_THAT(complaint(with("summary: for tests", "name: other")), Catch::Contains("twice"));
  CHECK_THAT(complaint(with("  training: {", "  model: {name: lenet}\n  training: {")),
             Catch::Contains("model.name") && Catch::Contains("twice"));
  CHECK_THAT(complaint(with("{at_most: 60}", "{of: best}")), Catch::Contains("at_most"));
  CHECK_THAT(complaint(with("{at_most: 60}", "{at_most: 60, at_least: 1}")),
             Catch::Contains("both"));
  CHECK_THAT(complaint(with("{at_most: 60}", "{at_most: soon}")), Catch::Contains("soon"));
  CHECK_THAT(complaint(with("of: best", "of: all")), Catch::Contains("median"));
  CHECK_THAT(complaint(with("{epochs: 1, seed: 1}", "5")), Catch::Contains("training"));
  CHECK_THAT(complaint(with("seed: 1", "seed: {a: 1}")), Catch::Contains("training.seed"));
  CHECK_THAT(complaint(""), Catch::Contains("r.yaml:"));
  CHECK_THAT(complaint("just words"), Catch::Contains("r.yaml:1"));
}

TEST_CASE("hostile YAML is refused at once") {
  CHECK_THAT(complaint(with("0.02", "&a 0.02")), Catch::Contains("anchors"));
  CHECK_THAT(complaint(with("0.02", "!!float 0.02")), Catch::Contains("tags"));
  CHECK_THAT(complaint(with("{at_most: 60}", "[at_most, 60]")), Catch::Contains("is a list"));
  CHECK_THAT(complaint(with("seed: 1", "seed: [1]")), Catch::Contains("training.seed"));
  CHECK_THAT(complaint(kSmall + "---\nname: other\n"), Catch::Contains("second document"));
  std::string deep = "name: ";
  for (int i = 0; i < 10'000; ++i) deep += "{a: ";
  CHECK_THAT(complaint(deep), Catch::Contains("deeper"));
  CHECK_THAT(complaint("name: " + std::string(5'000, '[') + std::string(5'000, ']')),
             Catch::Contains("deeper"));
  std::string wide = "fixed:\n";
  for (int i = 0; i < 2'000; ++i) wide += " a" + std::to_string(i) + ": 1\n";
  CHECK_THAT(complaint(wide), Catch::Contains("more than"));
  CHECK_THAT(complaint(std::string(100'000, '#')), Catch::Contains("bytes"));
  // Nine levels of nine references each: expanded, 9^9 values.
  std::string laughs = "a0: &a0 x\n";
  for (int i = 1; i < 10; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {b: *a" +
              std::to_string(i - 1) + ", c: *a" + std::to_string(i - 1) + "}\n";
  }
  CHECK_THAT(complaint(laughs), Catch::Contains("anchors"));
}

TEST_CASE("every truncation of a recipe is parsed or refused with a typed error") {
  for (std::size_t size = 0; size < kSmall.size(); ++size) {
    CHECK_NOTHROW(complaint(kSmall.substr(0, size)));
  }
}

TEST_CASE("a measurement is judged by its last sample, its best or the median") {
  using enum Recipe::Acceptable::Bound;
  const Statistic median, last{.of = Statistic::Of::last}, best{.of = Statistic::Of::best};
  const auto status = [](Recipe::Acceptable acceptable, std::vector<double> samples) {
    Measurement result;
    if (acceptable.bound == at_least) result.direction = Direction::higher_is_better;
    result.samples = std::move(samples);
    judge(result, acceptable);
    CHECK((result.status == Status::passed) == result.reason.empty());
    return result.status;
  };
  const std::vector<double> samples{0.5, 0.9, 0.7};
  CHECK(status({"m", at_least, 0.7, last}, samples) == Status::passed);
  CHECK(status({"m", at_least, 0.8, last}, samples) == Status::failed);
  CHECK(status({"m", at_least, 0.9, best}, samples) == Status::passed);
  CHECK(status({"m", at_most, 0.5, best}, samples) == Status::passed);
  CHECK(status({"m", at_most, 0.4, best}, samples) == Status::failed);
  CHECK(status({"m", at_least, 0.7, median}, samples) == Status::passed);
  CHECK(status({"m", at_most, 0.6, median}, samples) == Status::failed);
  CHECK(status({"m", at_least, 0, last}, {}) == Status::failed);
}

TEST_CASE("carried recipes are found by name, and all of them parse") {
  CHECK_FALSE(carried_recipes().empty());
  for (const std::string& name : carried_recipes()) {
    CHECK(load_recipe(name).name() == name);
    CHECK_FALSE(load_recipe(name).summary().empty());
  }
  CHECK_THROWS_WITH(load_recipe("mnist-lenett"), Catch::Contains("mnist-lenet"));
  CHECK_THROWS_AS(load_recipe("no/such/file.yaml"), IoError);
  CHECK_THROWS_WITH(load_recipe("mine.onnx"), Catch::Contains("model: {file: mine.onnx, loss: "));
}
