// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/sample_cut.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "level2_training/data/python_sampler.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kSampleCutHelp =
    R"(Distributes a data set's samples among ranks; base class of cuts in Python.

    class EveryOther(d5.SampleCut):
        def sampler(self, dataset, order, share, shares):
            return order(d5.subset(dataset, range(share, len(dataset) // shares * shares, shares)))

`order(dataset)` makes the requested sampler, with one rank's batch size. The attribute `is_even` says
whether all ranks have equally many batches, `is_complete` whether every sample is read by some rank in
each epoch, which a test run requires.)";

class PythonSampleCut final : public SampleCut, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                                 const SamplerEntry& order,
                                                 const Settings& settings, int share,
                                                 int shares) const override {
    return call_python([&] {
      const py::function method = method_of<SampleCut>(
          this, "sampler", "sampler(dataset, order, share, shares), which returns a d5.Sampler");
      const auto make = [&order, &settings](std::shared_ptr<Dataset> data) {
        return order.make(std::move(data), settings);
      };
      return to_sampler(
          method(std::const_pointer_cast<Dataset>(dataset), py::cpp_function(make), share, shares));
    });
  }
  [[nodiscard]] bool is_even() const override { return says("is_even", true); }
  [[nodiscard]] bool is_complete() const override { return says("is_complete", false); }

 private:
  [[nodiscard]] bool says(const char* attribute, bool otherwise) const {
    const py::gil_scoped_acquire gil;
    const py::object self = py::cast(static_cast<const SampleCut*>(this));
    return py::getattr(self, attribute, py::bool_(otherwise)).cast<bool>();
  }
};

}  // namespace

void register_sample_cut(py::module_& m) {
  py::classh<SampleCut, PythonSampleCut> cut(m, "SampleCut", kSampleCutHelp);
  cut.def(py::init<>());
  let_derive(cut);
  add_part_kind<SampleCut>(sample_cuts(), "SampleCut");
  m.def(
      "cut_sampler",
      [](const std::string& which, const std::shared_ptr<Dataset>& dataset, int share, int shares,
         const std::string& order, const Options& options) {
        const Settings settings = entry_settings(options, "d5.cut_sampler", samplers(), order);
        const py::gil_scoped_release released;
        return sample_cuts().at(which).make()->sampler(dataset, samplers().at(order), settings,
                                                       share, shares);
      },
      py::arg("cut"), py::arg("dataset").none(false), py::arg("share"), py::arg("shares"),
      py::kw_only(), py::arg("order") = "shuffle",
      "The sampler of one of several ranks; options of `order`, a sampler's name, are keywords.");
  m.def("sample_cuts", [] { return sample_cuts().names(); });
}

}  // namespace d5::python
