// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "bindings.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/training_session.hpp"

namespace d5::python {

/// A recipe, its file, or the name of a built-in one.
using RecipeOrFile = std::variant<Recipe, Path>;
[[nodiscard]] Recipe to_recipe(const RecipeOrFile& recipe);

/// A Python callable for each line; empty for None.
[[nodiscard]] std::function<void(const std::string&)> to_say(const Anything& say);

/// Throws: UnknownOption for the first keyword that nobody took, with the nearest.
[[noreturn]] void throw_unknown_keyword(const char* what, const py::dict& left,
                                        const std::vector<std::string>& known,
                                        const char* way_out = "");

/// Throws: ValueError for an interval or a number of checkpoints without their file.
void expect_checkpoint(const std::string& checkpoint, std::int64_t every, std::int64_t kept);

/// Reads keywords, as `kSessionHelp` describes them. Throws: UnknownOption, TypeError, and what the
/// parts throw.
[[nodiscard]] SessionOptions to_session_options(const Options& keywords);

inline constexpr const char* kSessionHelp = R"(Keywords of the run:
frameworks: names in order of preference for each node; placement: ["Conv=torch"];
device: "cpu"; memory_limit, recompute: as in d5.executor;
data: folder of the data set;
checkpoint: file to write every checkpoint_every (500) batches; checkpoints_kept (1) of them stay;
resume: checkpoint to start from; init: file of initial values (safetensors, a checkpoint, ONNX);
init_skip_differing=True keeps parameters whose shape differs;
save: ONNX file for the trained network;
loader_threads: number of threads that read batches ahead;
metrics: besides the recipe's, texts such as "time_to_accuracy:target=0.98", or classes of d5.Metric;
events: objects of d5.Event;
say: called with a line per epoch.)";

}  // namespace d5::python
