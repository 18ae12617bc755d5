// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

Anything state_of(const Recipe& recipe) {
  return py::make_tuple(recipe.text(), recipe.file(), recipe.changes());
}

Recipe from_state(const Anything& pickled) {
  const py::tuple state = pickled;
  if (state.size() != 3) throw FormatError("a pickled recipe has 3 parts: text, file, changes");
  Recipe recipe = Recipe::parse(state[0].cast<std::string>(), state[1].cast<std::string>());
  for (const auto& change : state[2].cast<std::vector<std::string>>()) recipe.set(change);
  return recipe;
}

std::pair<Measurements, bool> train(Recipe recipe, const std::vector<std::string>& changes,
                                    const std::vector<std::string>& frameworks, const Path& data,
                                    const Path& checkpoint, const Path& resume, const Path& init,
                                    const Path& save, int loader_threads) {
  for (const auto& change : changes) recipe.set(change);
  RecipeRun run;
  orderly_call([&](const Interrupt& interrupt) {
    run = run_recipe(recipe,
                     {.frameworks = frameworks,
                      .data = data.string(),
                      .checkpoint = checkpoint.string(),
                      .resume = resume.string(),
                      .init = {.path = init.string()},
                      .save = save.string(),
                      .loader_threads = loader_threads},
                     interrupt);
  });
  return {Measurements(run.results.measurements), run.accepted};
}

}  // namespace

void bind_recipe(py::module_& m) {
  py::class_<Recipe>(m, "Recipe", "What a training run consists of, and which results it accepts.")
      .def_property_readonly("name", &Recipe::name)
      .def_property_readonly("summary", &Recipe::summary)
      .def_property_readonly("file", &Recipe::file)
      .def_property_readonly(
          "command", [](const Recipe& recipe) { return recipe.command().text(); },
          "A line that runs it.")
      .def_property_readonly(
          "values",
          [](const Recipe& recipe) {
            std::map<std::string, std::string> texts;
            for (const auto& [key, value] : recipe.values()) texts[key] = value.text;
            return texts;
          },
          "By dotted key: \"optimizer.learning_rate\".")
      .def(
          "set", [](Recipe& recipe, const std::string& assignment) { recipe.set(assignment); },
          py::arg("assignment"), "Changes a value of the mutable part: \"training.epochs=2\".")
      .def("__deepcopy__", [](const Recipe& recipe, const Anything&) { return recipe; })
      .def(py::pickle(&state_of, &from_state))
      .def("__repr__", [](const Recipe& recipe) {
        return fmt::format("<d5.Recipe {}: {}>", printable(recipe.name()),
                           printable(recipe.summary()));
      });
  m.def(
      "recipe", [](const Path& file_or_name) { return load_recipe(file_or_name.string()); },
      py::arg("file_or_name"), "Reads a recipe: a file, or one that d5 carries.");
  m.def("recipes", &carried_recipes, "Names of the recipes that d5 carries.");

  const std::vector<std::string> none, reference{"reference"};
  constexpr const char* about =
      "Runs a recipe; returns its measurements and whether all acceptable metrics were met. `save` "
      "is an "
      "ONNX file for what was trained.";
  m.def("train", &train, py::arg("recipe"), py::kw_only(), py::arg("set") = none,
        py::arg("frameworks") = reference, py::arg("data") = "", py::arg("checkpoint") = "",
        py::arg("resume") = "", py::arg("init") = "", py::arg("save") = "",
        py::arg("loader_threads") = 0, about);
  m.def(
      "train",
      [](const Path& file_or_name, const std::vector<std::string>& changes,
         const std::vector<std::string>& frameworks, const Path& data, const Path& checkpoint,
         const Path& resume, const Path& init, const Path& save, int loader_threads) {
        return train(load_recipe(file_or_name.string()), changes, frameworks, data, checkpoint,
                     resume, init, save, loader_threads);
      },
      py::arg("recipe"), py::kw_only(), py::arg("set") = none, py::arg("frameworks") = reference,
      py::arg("data") = "", py::arg("checkpoint") = "", py::arg("resume") = "",
      py::arg("init") = "", py::arg("save") = "", py::arg("loader_threads") = 0, about);
}

}  // namespace d5::python
