// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "bindings.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/training_session.hpp"

namespace d5::python {

/// A recipe, its file, or the name of one that d5 carries.
using RecipeOrFile = std::variant<Recipe, Path>;
[[nodiscard]] Recipe to_recipe(const RecipeOrFile& recipe);

/// What Python calls with each line; nothing for None.
[[nodiscard]] std::function<void(const std::string&)> to_say(const Anything& say);

/// Of keywords, as `kSessionHelp` tells them.
/// Throws: NotFound for one that is unknown, with the nearest; TypeError, and what the parts throw.
[[nodiscard]] SessionOptions to_session_options(const Options& keywords);

inline constexpr const char* kSessionHelp = R"(Keywords, of how it is run:
frameworks: names in order of preference for each node; placement: ["Conv=torch"];
device: "cpu"; memory_limit, recompute: as d5.executor's;
data: folder of the data set;
checkpoint: file to write, every checkpoint_every (500) batches, of which checkpoints_kept (1) stay;
resume: checkpoint to begin with; init: file of initial values (safetensors, a checkpoint, ONNX),
init_skip_differing=True leaves parameters of another shape as they are;
save: ONNX file for what was trained;
loader_threads: that read batches ahead;
metrics: besides the recipe's, texts such as "time_to_accuracy:target=0.98", or classes of d5.Metric;
events: objects of d5.Event;
say: is called with a line an epoch.)";

}  // namespace d5::python
