// SPDX-License-Identifier: Apache-2.0
// Writes the result of a reduction: a test folder to attach to a report.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/validation/reduced_folder.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Code for a framework's own Python: lines that compute `got`, a list, from `model`, a path, and
/// `fed`, arrays by name.
struct OwnPython {
  std::string_view framework, import, answer;
};
constexpr std::array<OwnPython, 2> kPrograms = {{
    {"onnxruntime", "import onnxruntime",
     "got = onnxruntime.InferenceSession(str(model)).run(None, fed)"},
    {"openvino", "import openvino",
     R"(compiled = openvino.Core().compile_model(
    str(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = list(compiled(fed).values()))"},
}};

const OwnPython* own_python(const std::string& word) {
  for (const auto& own : kPrograms) {
    if (own.framework == ExecutorWord(word).frameworks().front()) return &own;
  }
  return nullptr;
}

std::string program_of(const OwnPython& own) {
  return fmt::format(
      R"(# Needs onnx, numpy and {0}; says how far each output is from what is expected.
import pathlib
import numpy
import onnx.numpy_helper
{1}

here = pathlib.Path(__file__).parent
model = here / "model.onnx"
def read(kind):
    files = sorted(here.glob(f"test_data_set_0/{{kind}}_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    tensors = [onnx.TensorProto.FromString(file.read_bytes()) for file in files]
    return {{tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in tensors}}

fed = read("input")
{2}
for (name, expected), answer in zip(read("output").items(), got):
    expected, answer = expected.astype(float), numpy.asarray(answer).astype(float)
    print(f"{{name}}: off by {{abs(answer - expected).max():.6g}}, largest expected {{abs(expected).max():.6g}}")
)",
      own.framework, own.import, own.answer);
}

/// Instructions for adding a row of known faults.
constexpr std::string_view kRecipe = R"(
To have d5 refuse it, so that nobody gets a wrong answer unawares:

1. Say what of the node decides: its types, attributes, constants. `d5 op check CASE --framework F
   --reduce` finds the smallest case of one node.
2. Add that as a row to frameworks/NAME/known_faults.cpp, with the first version that is right as
   `fixed_in` once there is one; where there is no such table, to the kernel's check.
3. Put the case into the framework's tests, and run `conformance NAME --update`.

docs/reference/frameworks.md, "From a finding to a refusal", shows all three.
)";

std::string how_to_see(const ReducedNetwork& reduced, const ReductionSubject& subject,
                       bool has_program) {
  const std::string& word = subject.word;
  std::string text;
  switch (reduced.difference.kind) {
    case DifferenceKind::gradient:
      text = fmt::format(
          "`d5 net check FOLDER/model.onnx --framework {} --backward` shows it, FOLDER being this "
          "one: what the nodes read are parameters, whose gradients are compared",
          word);
      break;
    case DifferenceKind::slower:
      text = fmt::format(
          "`d5 net bench FOLDER --framework {},{}` shows it, FOLDER being this one; "
          "it is as steady as the machine",
          subject.against, word);
      break;
    case DifferenceKind::ended:
      text = fmt::format(
          "`d5 net check FOLDER --framework {}` shows it, FOLDER being this one: its process ends, "
          "or hangs, so the command does",
          word);
      break;
    default:
      text =
          fmt::format("`d5 net check FOLDER --framework {}` shows it, FOLDER being this one", word);
  }
  if (has_program) text += "; `python3 differs.py` runs it without d5";
  return text + ".";
}

std::string readme_of(const ReducedNetwork& reduced, const ReductionSubject& subject,
                      bool has_program) {
  std::string operators;
  for (const auto& node : reduced.network.graph().nodes) {
    operators += fmt::format("- {}\n", onnx::describe(node));
  }
  const std::size_t left = reduced.network.graph().nodes.size();
  std::string text = fmt::format(
      "# {}{} differs\n\n{}\n\n{} of {} nodes {} left{}:\n\n{}\n{} In test_data_set_0, "
      "`input_N.pb` is what is fed, `output_N.pb` what is expected, `answer_N.pb` what came.\n",
      subject.word, subject.version.empty() ? "" : " " + subject.version,
      printable_message(reduced.difference.words), left, reduced.nodes_before,
      left == 1 ? "is" : "are",
      reduced.is_smallest ? ""
                          : " (it ended early; there may be fewer, and the same command continues)",
      operators, how_to_see(reduced, subject, has_program));
  if (!reduced.expected_gradients.empty()) {
    text +=
        "Beside them lie `gradient_N.pb`, what is expected, and `answered_gradient_N.pb`, what "
        "came, "
        "each under the name of its parameter.\n";
  }
  if (reduced.differing_runs < reduced.runs) {
    text += fmt::format("\nIt is intermittent: {} of {} runs of the whole network differed.\n",
                        reduced.differing_runs, reduced.runs);
  }
  text += fmt::format(
      "\nTo report it to those who make {}, attach this folder{}, and say on which processor it "
      "ran (`d5 env`).\n",
      ExecutorWord(subject.word).frameworks().front(),
      has_program ? ", of which differs.py needs nothing of d5" : "");
  return text.append(kRecipe);
}

void save_values(const fs::path& data_set, const char* kind, const std::vector<std::string>& names,
                 const ValueMap& values) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = values.find(names[i]);
    if (value == values.end()) continue;
    write_file((data_set / fmt::format("{}_{}.pb", kind, i)).string(),
               onnx::serialize_value(value->second, names[i]));
  }
}

/// Saves gradients of parameters, each under its name.
void save_gradients(const fs::path& data_set, const char* kind, const ValueMap& gradients) {
  std::size_t i = 0;
  for (const auto& [name, gradient] : gradients) {
    write_file((data_set / fmt::format("{}_{}.pb", kind, i++)).string(),
               onnx::serialize_value(gradient, name));
  }
}

void write_all(const ReducedNetwork& reduced, const ReductionSubject& subject, const fs::path& to) {
  const fs::path data_set = to / "test_data_set_0";
  fs::create_directories(data_set);
  reduced.network.save((to / "model.onnx").string());
  save_values(data_set, "input", reduced.network.input_names(), reduced.inputs);
  save_values(data_set, "output", reduced.network.output_names(), reduced.expected);
  save_values(data_set, "answer", reduced.network.output_names(), reduced.answers);
  save_gradients(data_set, "gradient", reduced.expected_gradients);
  save_gradients(data_set, "answered_gradient", reduced.gradients);
  const OwnPython* own = own_python(subject.word);
  const auto kind = reduced.difference.kind;
  const bool is_of_outputs = kind != DifferenceKind::gradient && kind != DifferenceKind::slower;
  const bool has_program = own && is_of_outputs;
  if (has_program) write_file((to / "differs.py").string(), program_of(*own));
  write_file((to / "README.md").string(), readme_of(reduced, subject, has_program));
  if (subject.of.empty()) return;
  write_file((to / kReductionJournal).string(), journal_of(reduced, subject));
}

/// Replaces `whole` by `half`, atomically if the file system can.
void put_in_place(const fs::path& half, const fs::path& whole) {
  if (!fs::exists(whole)) return fs::rename(half, whole);
  if (renameat2(AT_FDCWD, half.c_str(), AT_FDCWD, whole.c_str(), RENAME_EXCHANGE) != 0) {
    fs::remove_all(whole);
    return fs::rename(half, whole);
  }
  fs::remove_all(half);  // the old folder
}

}  // namespace

void save_reduction(const ReducedNetwork& reduced, const ReductionSubject& subject,
                    const std::string& folder) {
  std::error_code error;
  fs::path whole = fs::path(folder).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "few/"
  const fs::path half = whole.string() + fmt::format(".tmp-{}", getpid());
  try {
    write_all(reduced, subject, half);
    put_in_place(half, whole);
  } catch (const std::exception& failure) {
    fs::remove_all(half, error);
    throw IoError(fmt::format("cannot write folder '{}': {}", printable(folder), failure.what()));
  }
}

void save_reduced(const ReducedNetwork& reduced, const std::string& word,
                  const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    throw IoError(
        fmt::format("folder '{}' exists: name a new folder, or remove it", printable(folder)));
  }
  std::string version;
  try {
    version = version_of(word);
  } catch (const Error&) {  // it is not there any more
  }
  save_reduction(reduced, {.word = word, .version = version}, folder);
}

}  // namespace d5
