// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/typing.h>

#include "answered.hpp"
#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level2_training/level2_training.hpp"

namespace d5::python {
namespace {

Anything state_of(const Recipe& recipe) {
  return py::make_tuple(recipe.text(), recipe.file(), recipe.changes(), recipe.places());
}

Recipe from_state(const Anything& pickled) {
  const py::tuple state = pickled;
  if (state.size() != 4) {
    throw FormatError("a pickled recipe has 4 parts: text, file, changes, places");
  }
  Recipe recipe = Recipe::parse(state[0].cast<std::string>(), state[1].cast<std::string>(),
                                state[3].cast<std::vector<std::string>>());
  for (const auto& change : state[2].cast<std::vector<std::string>>()) recipe.set(change);
  return recipe;
}

using Parts = py::typing::Dict<py::str, Anything>;

Recipe parse(const std::variant<std::string, Parts>& content, const std::string& file) {
  if (const auto* text = std::get_if<std::string>(&content)) return Recipe::parse(*text, file);
  const py::object written =
      py::module_::import("d5._recipe_text").attr("text_of")(std::get<Parts>(content), file);
  auto [text, places] = written.cast<std::pair<std::string, std::vector<std::string>>>();
  return Recipe::parse(text, file, std::move(places));
}

Recipe changed(Recipe recipe, const py::Args<py::str>& assignments) {
  for (const auto& assignment : assignments) {
    recipe.set(answered<std::string>(assignment, "d5.Recipe.changed: a caller",
                                     "a text such as 'training.epochs=2'"));
  }
  return recipe;
}

using Recipes = py::typing::Dict<py::str, Recipe>;

Recipes varied(const Recipe& recipe, const std::string& assignment) {
  Recipes by_name;
  for (const TrainingVariant& variant : vary(recipe, assignment)) {
    by_name[py::cast(variant.name)] = variant.recipe;
  }
  return by_name;
}

using Bounds = std::map<std::string, std::pair<std::string, double>>;

Bounds acceptable(const Recipe& recipe) {
  Bounds bounds;
  for (const auto& [metric, bound, value, of] : recipe.acceptable()) {
    const bool at_least = bound == Recipe::Acceptable::Bound::at_least;
    bounds[metric] = {at_least ? "at_least" : "at_most", value};
  }
  return bounds;
}

std::map<std::string, std::pair<double, double>> ranges(const Recipe& recipe) {
  std::map<std::string, std::pair<double, double>> all;
  for (const auto& range : recipe.ranges()) all[range.key] = {range.least, range.most};
  return all;
}

}  // namespace

void bind_recipe(py::module_& m) {
  py::class_<Recipe>(m, "Recipe", "What a training run consists of, and which results it accepts.")
      .def(
          py::init(&parse), py::arg("content"), py::arg("file") = "recipe",
          "Reads the text of a recipe file, or a dict nested in the same way: {\"name\": ..., "
          "\"fixed\": {\"dataset\": {\"name\": \"mnist\"}, ...}, \"mutable\": {...}}. `file` is "
          "what messages call it. Raises FormatError, NotFound with the line and the nearest name.")
      .def_property_readonly("name", &Recipe::name, "Name of the recipe.")
      .def_property_readonly("summary", &Recipe::summary, "Line that says what it trains.")
      .def_property_readonly("file", &Recipe::file,
                             "File that it was read from, as messages name it.")
      .def_property_readonly(
          "command", [](const Recipe& recipe) { return recipe.command().text(); },
          "A command line that runs it.")
      .def_property_readonly(
          "values",
          [](const Recipe& recipe) {
            std::map<std::string, std::string> texts;
            for (const auto& [key, value] : recipe.values()) texts[key] = value.text;
            return texts;
          },
          "Values by dotted key: \"optimizer.learning_rate\".")
      .def(
          "set", [](Recipe& recipe, const std::string& assignment) { recipe.set(assignment); },
          py::arg("assignment"), "Changes a value of the mutable part: \"training.epochs=2\".")
      .def("changed", &changed,
           "A copy with these assignments: recipe.changed(\"optimizer.name=adam\", "
           "\"training.seed=2\").")
      .def("vary", &varied, py::arg("assignment"),
           "A copy per value, by its name: recipe.vary(\"optimizer.name=adam,lamb\").")
      .def("with_seed", &with_seed, py::arg("seed"), "A copy that trains with that seed.")
      .def("trials", &trials_of, py::arg("count"),
           "Copies at the first `count` points of a Halton sequence in its search ranges.")
      .def("with_reference", &with_reference, py::arg("joined"),
           "The recipe's text with the runs of `joined` (repeat_training, 10 or more) as the "
           "reference for later ones. Raises ValueError if one of them did not converge.")
      .def_property_readonly("text", &Recipe::text, "The text that was read.")
      .def_property_readonly("changes", &Recipe::changes, "Assignments made since, in order.")
      .def_property_readonly("acceptable", &acceptable,
                             "Acceptance bounds by metric: (\"at_least\", 0.98).")
      .def_property_readonly("ranges", &ranges, "Search ranges of values, by key.")
      .def_property_readonly(
          "reference",
          [](const Recipe& recipe) {
            return std::map<std::string, std::vector<double>>(recipe.reference().begin(),
                                                              recipe.reference().end());
          },
          "Reference results of its runs, a number per run, by metric.")
      .def_property_readonly(
          "checksum", &Recipe::checksum,
          "Checksum of everything that changes a run, without its length and what is judged.")
      .def("__deepcopy__", [](const Recipe& recipe, const Anything&) { return recipe; })
      .def(py::pickle(&state_of, &from_state))
      .def("__repr__", [](const Recipe& recipe) {
        return fmt::format("<d5.Recipe {}: {}>", printable(recipe.name()),
                           printable(recipe.summary()));
      });
  m.def(
      "recipe", [](const Path& file_or_name) { return load_recipe(file_or_name.string()); },
      py::arg("file_or_name"), "Reads a recipe: a file, or a built-in one.");
  m.def("recipes", &carried_recipes, "Names of the built-in recipes.");
}

}  // namespace d5::python
