// SPDX-License-Identifier: Apache-2.0
// What a reduction leaves: a test folder that somebody can attach to a report.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/network_reduction.hpp"
#include "d5/onnx/file.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// How a framework's own Python answers: lines that make `got`, a list, of `model`, a path, and
/// `fed`, arrays by their names.
struct OwnPython {
  std::string_view framework, import, answer;
};
constexpr std::array<OwnPython, 2> kOwn = {{
    {"onnxruntime", "import onnxruntime",
     "got = onnxruntime.InferenceSession(str(model)).run(None, fed)"},
    {"openvino", "import openvino",
     R"(compiled = openvino.Core().compile_model(
    str(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = list(compiled(fed).values()))"},
}};

const OwnPython* own_python(const std::string& word) {
  for (const auto& own : kOwn) {
    if (own.framework == frameworks_in(word).front()) return &own;
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

std::string readme_of(const ReducedNetwork& reduced, const std::string& word, bool has_program) {
  std::string operators;
  for (const auto& node : reduced.network.graph().nodes) {
    operators += fmt::format("- {}\n", onnx::describe(node));
  }
  std::string version;
  try {
    version = " " + version_of(word);
  } catch (const Error&) {  // it is not there any more
  }
  return fmt::format(
      "# {0}{1} differs\n\n{2}\n\n{3} of {4} nodes {8} left{5}:\n\n{6}\n`d5 net check FOLDER "
      "--framework {0}` shows it, FOLDER being this one{7}. In test_data_set_0, `input_N.pb` is "
      "what is fed, `output_N.pb` what is expected, `answer_N.pb` what came.\n",
      word, version, printable_message(reduced.difference), reduced.network.graph().nodes.size(),
      reduced.nodes_before, reduced.is_smallest ? "" : " (time was over; there may be fewer)",
      operators, has_program ? "; so does `python3 differs.py`, without d5" : "",
      reduced.network.graph().nodes.size() == 1 ? "is" : "are");
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

}  // namespace

void save_reduced(const ReducedNetwork& reduced, const std::string& word,
                  const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    throw IoError(fmt::format("folder '{}' is there already: name one that is not, or remove it",
                              printable(folder)));
  }
  const fs::path whole = fs::path(folder).lexically_normal();
  const fs::path half = whole.string() + fmt::format(".tmp-{}", getpid());
  try {
    fs::create_directories(half / "test_data_set_0");
    reduced.network.save((half / "model.onnx").string());
    const fs::path data_set = half / "test_data_set_0";
    save_values(data_set, "input", reduced.network.input_names(), reduced.inputs);
    save_values(data_set, "output", reduced.network.output_names(), reduced.expected);
    save_values(data_set, "answer", reduced.network.output_names(), reduced.answers);
    const OwnPython* own = own_python(word);
    if (own) write_file((half / "differs.py").string(), program_of(*own));
    write_file((half / "README.md").string(), readme_of(reduced, word, own != nullptr));
    fs::rename(half, whole);
  } catch (const std::exception& failure) {
    fs::remove_all(half, error);
    throw IoError(fmt::format("cannot write folder '{}': {}", printable(folder), failure.what()));
  }
}

}  // namespace d5
