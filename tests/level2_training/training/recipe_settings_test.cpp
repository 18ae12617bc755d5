// SPDX-License-Identifier: Apache-2.0
// Changeable values of a recipe, and the places of its files.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

Recipe small(const std::string& rest = "") {
  return Recipe::parse(R"(name: small
fixed:
  dataset: {name: mnist, subset: sample}
  model: {name: lenet}
mutable:
  optimizer: {name: momentum, learning_rate: 0.02}
  training: {epochs: 1}
)" + rest,
                       "small.yaml");
}

Recipe set(Recipe recipe, const std::string& change) {
  recipe.set(change);
  return recipe;
}

}  // namespace

TEST_CASE("an option that the recipe does not write may be set") {
  CHECK(set(small(), "optimizer.nesterov=true").section("optimizer").flag("nesterov", false));
  CHECK(set(small(), "training.seed=7").training().seed == 7);
  CHECK(set(small(), "training.most_batches=3").training().most_batches == 3);
  CHECK(set(small(), "sampler.batch_size=8").section("sampler").integer("batch_size", 0) == 8);
  CHECK(set(small(), "sampler.name=ordered").choice("sampler", "shuffle").name == "ordered");
  CHECK(set(small(), "metrics.time_to_accuracy.target=0.5").names_below("metrics") ==
        std::vector<std::string>{"time_to_accuracy"});
  const auto scheduled = set(small(), "optimizer.schedules.learning_rate.name=cosine");
  CHECK(scheduled.section("optimizer").text("schedules.learning_rate.name", "") == "cosine");
  CHECK(set(small(), "optimizer.modifiers=clip_norm:most=1").section("optimizer").has("modifiers"));
  CHECK(set(small(), "optimizer.nesterov=true").command().text() ==
        "d5 train small.yaml --set optimizer.nesterov=true");
  // A change of it makes another training.
  CHECK(set(small(), "optimizer.nesterov=true").checksum() != small().checksum());
  CHECK(set(small(), "training.test_every=2").checksum() == small().checksum());
}

TEST_CASE("an option that nobody declares is refused with the nearest") {
  for (const auto& [change, nearest] : std::vector<std::pair<std::string, std::string>>{
           {"optimizer.nesterof=true", "optimizer.nesterov"},
           {"training.sed=1", "training.seed"},
           {"sampler.batchsize=1", "sampler.batch_size"},
           {"metrics.time_to_acuracy.target=1", "metrics.time_to_accuracy"},
           {"optimiser.learning_rate=1", "optimizer.learning_rate"},
           {"epochs=1", "training.epochs"}}) {
    CAPTURE(change);
    CHECK_THROWS_AS(set(small(), change), NotFound);
    CHECK_THROWS_WITH(set(small(), change), Contains("did you mean") && Contains(nearest));
  }
  // One of another entry; after that is chosen it is known.
  CHECK_THROWS_AS(set(small(), "optimizer.amsgrad=true"), NotFound);
  const auto adam = set(set(small(), "optimizer.name=adam"), "optimizer.amsgrad=true");
  CHECK(adam.section("optimizer").flag("amsgrad", false));
}

TEST_CASE("a section that is fixed whole keeps its defaults") {
  CHECK_THROWS_AS(set(small(), "model.classes=5"), ValueError);
  CHECK_THROWS_WITH(set(small(), "dataset.train_samples=5"),
                    Contains("fixed") && Contains("small.yaml:3") && Contains("default"));
  const auto own = Recipe::parse(
      "name: own\nfixed:\n  dataset: {name: mnist}\n  optimizer: {name: sgd}\nmutable:\n"
      "  model: {file: net.onnx}\n",
      "own.yaml");
  CHECK(set(own, "model.loss=mse").section("model").text("loss", "") == "mse");
  CHECK(set(own, "model.inputs.x=image").section("model").has("inputs.x"));
  CHECK_THROWS_AS(set(own, "model.classes=5"), NotFound);  // only a built-in network has it
  CHECK_THROWS_AS(set(own, "optimizer.weight_decay=1"), ValueError);
  CHECK_NOTHROW(set(own, "metrics.test_loss="));  // to measure more changes nothing
}

TEST_CASE("a recipe's files are looked for beside it, then in the current folder") {
  const testing::TemporaryFolder folder, elsewhere;
  const auto before = std::filesystem::current_path();
  struct Back {
    std::filesystem::path path;
    ~Back() { std::filesystem::current_path(path); }
  } back{before};
  std::filesystem::current_path(elsewhere / "");
  const std::string text =
      "name: own\nfixed:\n  dataset: {name: files, data: images, test: held.txt}\n"
      "  optimizer: {name: sgd}\nmutable:\n  model: {file: net.onnx}\n";
  const auto touch = [](const std::string& file) { std::ofstream(file) << "x"; };
  touch(folder / "net.onnx");
  touch(elsewhere / "net.onnx");
  touch(elsewhere / "held.txt");
  std::filesystem::create_directory(folder / "images");
  const Recipe recipe = Recipe::parse(text, folder / "own.yaml");
  const auto files = recipe.files();
  REQUIRE(files.size() == 3);
  using Place = Recipe::File::Place;
  CHECK(files[0].key == "model.file");
  CHECK(files[0].place == Place::beside_recipe);
  CHECK(files[0].path == folder / "net.onnx");
  CHECK(files[1].place == Place::beside_recipe);  // a folder
  CHECK(files[2].place == Place::current_folder);
  CHECK(recipe.section("model").text("file", "") == folder / "net.onnx");
  CHECK(recipe.section("dataset").text("data", "") == folder / "images");
  CHECK(recipe.section("dataset").text("test", "") == "held.txt");
  // A path that a person types is relative to the current folder.
  CHECK(set(recipe, "model.file=net.onnx").files()[0].place == Place::current_folder);
  // The same recipe, wherever it lies.
  CHECK(recipe.checksum() == Recipe::parse(text, "own.yaml").checksum());
  std::filesystem::remove(folder / "net.onnx");
  std::filesystem::remove(elsewhere / "net.onnx");
  CHECK(recipe.files()[0].place == Place::nowhere);
  CHECK(recipe.section("model").text("file", "") == "net.onnx");
}
