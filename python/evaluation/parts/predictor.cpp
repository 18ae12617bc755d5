// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/predictor/predictor.hpp"

#include <fmt/format.h>
#include <pybind11/trampoline_self_life_support.h>

#include "d5/core/errors/error.hpp"
#include "lent_inputs.hpp"
#include "lent_outputs.hpp"
#include "level1_network/model_file.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

constexpr const char* kPredictorHelp =
    R"(Answers batches with a model; base class of predictors in Python, which are constructed with the model's
file and the largest batch of their calls.

    @d5.register("tests-session")
    class Session(d5.Predictor):
        def __init__(self, model, largest_batch, threads: int = 1):
            self.session = onnxruntime.InferenceSession(model)

        def predict(self, inputs):
            return dict(zip(names, self.session.run(names, {n: t.numpy() for n, t in inputs.items()})))

Returns all outputs by name; dimension 0 of each input and output is the sample. Inputs are lent.)";

class PythonPredictor final : public Predictor, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::string name() const override {
    const py::gil_scoped_acquire gil;
    const py::object type = py::type::of(py::cast(static_cast<const Predictor*>(this)));
    const py::object named = type.attr("name");
    return (py::isinstance<py::str>(named) ? named : type.attr("__name__")).cast<std::string>();
  }
  const ValueMap& predict(const ValueMap& inputs) override {
    return call_python([&]() -> const ValueMap& {
      const py::function method =
          method_of<Predictor>(this, "predict", "predict(inputs), which returns a dict of arrays");
      const LeaseScope call("a predictor's call");
      outputs_ = to_values(
          returned_arrays<Predictor>(this, "predict", method(lent_inputs(inputs, call.lease()))));
      return outputs_;
    });
  }

 private:
  ValueMap outputs_;
};

std::shared_ptr<Predictor> open_by_word(const std::string& word, const NetworkOrFile& network,
                                        std::int64_t largest_batch, int threads) {
  if (threads < 0) {
    throw ValueError(
        fmt::format("d5.predictor: threads is {}, expected 0 (its own choice) or more", threads));
  }
  if (largest_batch < 1) {
    throw ValueError(
        fmt::format("d5.predictor: largest_batch is {}, expected at least 1", largest_batch));
  }
  const ModelFile file(network);
  const ModelAssets assets{.model = Path(file.word()).stem().string(), .network = file.word()};
  const PredictorOptions options{.threads = threads, .largest_batch = largest_batch};
  std::shared_ptr<Predictor> predictor;
  long_call([&](const Interrupt&) {
    file.run([&] { predictor = open_predictor(word, assets, options); });
  });
  return predictor;
}

Values predict_once(Predictor& predictor, const Values& inputs) {
  const Use use(&predictor, "the predictor");
  const ValueMap given = to_values(inputs);
  const ValueMap* outputs = nullptr;
  long_call([&](const Interrupt&) { outputs = &predictor.predict(given); });
  return named_outputs(copy_values(*outputs));
}

}  // namespace

void register_predictor(py::module_& m) {
  py::classh<Predictor, PythonPredictor> predictor(m, "Predictor", kPredictorHelp);
  predictor.def(py::init<>())
      .def_property_readonly("name", &Predictor::name,
                             "Name of the predictor in records: \"torch\".")
      .def("predict", &predict_once, py::arg("inputs"), "All outputs by name.");
  let_derive(predictor);
  const auto make = [](const PythonEntry& entry, const ModelAssets& assets,
                       const PredictorOptions& options, const PythonOptions& own) {
    const auto of = [](const py::object& made) {
      return expected_part<Predictor>(made, "a d5.Predictor");
    };
    return entry.make(own, of, py::make_tuple(assets.network, options.largest_batch));
  };
  part_kinds().add(predictors().kind(),
                   {.base = "Predictor", .needs = 2, .add = adding_to(predictors(), make)});
  m.def("predictor", &open_by_word, py::arg("word"), py::arg("network"), py::kw_only(),
        py::arg("largest_batch") = 1, py::arg("threads") = 0,
        "Opens a predictor of a model's file, or of a d5.Network, and warms it up: \"torch\", "
        "\"onnxruntime:session\", "
        "\"sleep:seconds=0.01\", or one of predictors().");
  m.def("predictors", [] { return predictors().names(); });
}

}  // namespace d5::python
