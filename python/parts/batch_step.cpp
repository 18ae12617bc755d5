// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/batch_step.hpp"

#include <fmt/format.h>
#include <pybind11/trampoline_self_life_support.h>

#include <algorithm>

#include "answered.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "lent_inputs.hpp"
#include "level2_training/data/described_fields.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kBatchStepHelp =
    R"(A change of whole batches, which may mix samples; base class of batch steps in Python.

    class Shuffled(d5.BatchStep):
        def run(self, batch, seed):
            order = np.random.default_rng(seed).permutation(len(batch["label"]))
            return {name: value.numpy()[order] for name, value in batch.items()}

`batch` holds read-only tensors by name, valid during the call alone; `run` returns those that it changes. `seed`
differs for each batch, epoch and step. `fields(fields)` returns the fields after the step for those
before it, both as {name: (type, shape)} without the batch dimension; define it if they differ.)";

class PythonBatchStep final : public BatchStep, public py::trampoline_self_life_support {
 public:
  /// Called before all else, with the GIL.
  void take(std::vector<Dataset::Field> in) {
    in_ = std::move(in);
    const py::function method = override_of(static_cast<const BatchStep*>(this), "fields");
    fields_ = in_;
    if (!method) return;
    fields_ = fields_of(answered<py::dict>(method(words_of(in_)), py::cast(this), "fields()",
                                           "a dict of (type, shape) by name"));
  }
  [[nodiscard]] const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void run(std::span<const Tensor> in, RandomStream& random, std::span<Tensor> out) const override {
    const std::uint64_t seed = drawn_seed(random);
    call_python([&] {
      const py::function method = method_of<BatchStep>(
          this, "run", "run(batch, seed), which returns a dict of arrays by name");
      const LeaseScope step("a batch step's call");
      Values batch;
      for (std::size_t f = 0; f < in_.size(); ++f) {
        batch[py::cast(in_[f].name)] = lend_input(in[f], step.lease());
      }
      const Values given = returned_arrays<BatchStep>(this, "run", method(batch, seed));
      expect_fields(given);
      for (std::size_t f = 0; f < fields_.size(); ++f) write(given, in, f, out[f]);
    });
  }

 private:
  /// Throws: NotFound for a returned name that is no field after the step.
  void expect_fields(const Values& given) const {
    for (const auto& [key, value] : given) {
      const auto name = py::str(key).cast<std::string>();
      if (std::ranges::find(fields_, name, &Dataset::Field::name) != fields_.end()) continue;
      std::vector<std::string> names;
      for (const auto& field : fields_) names.push_back(field.name);
      throw_unknown_name("a batch step returned a field, which", name, names);
    }
  }
  void write(const Values& given, std::span<const Tensor> in, std::size_t f, Tensor& out) const {
    const py::object key = py::cast(fields_[f].name);
    if (given.contains(key)) return out.copy_from(to_tensor(given[key]));
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (in_[i].name == fields_[f].name) return out.copy_from(in[i]);
    }
    throw NotFound(fmt::format("a batch step returned no '{}', one of its fields",
                               printable(fields_[f].name)));
  }

  std::vector<Dataset::Field> in_, fields_;
};

std::shared_ptr<const BatchStep> batch_step_of(const py::object& made,
                                               std::vector<Dataset::Field> fields) {
  auto step = expected_part<BatchStep>(made, "a d5.BatchStep");
  if (auto* in_python = dynamic_cast<PythonBatchStep*>(step.get())) {
    in_python->take(std::move(fields));
  }
  return step;
}

}  // namespace

void register_batch_step(py::module_& m) {
  py::classh<BatchStep, PythonBatchStep> step(m, "BatchStep", kBatchStepHelp);
  step.def(py::init<>());
  step.attr("_hooks") = "run fields";
  let_derive(step);
  const auto make = [](const PythonEntry& entry, std::vector<Dataset::Field> fields,
                       const PythonOptions& own) {
    return entry.make(
        own, [&](const py::object& made) { return batch_step_of(made, std::move(fields)); });
  };
  part_kinds().add(batch_steps().kind(),
                   {.base = "BatchStep", .needs = 0, .add = adding_to(batch_steps(), make)});
  m.def("batch_steps", [] { return batch_steps().names(); });
}

}  // namespace d5::python
