// SPDX-License-Identifier: Apache-2.0
#include "level1_network/network_transforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "declared_keywords.hpp"

namespace d5::python {
namespace {

constexpr const char* kOfObject = "()";  // ends the names of entries that objects brought

thread_local std::shared_ptr<Transform> applied_now;

std::shared_ptr<Transform> object_applied_now() {
  if (applied_now) return applied_now;
  throw ValueError(
      "this transform is an object that network.apply was given; register its class (d5.register) "
      "to use it by name");
}

/// Adds the entry of the object's class, once.
std::string entry_of(const std::shared_ptr<Transform>& object) {
  const py::object made = py::cast(object);
  std::string name = std::string(py::str(py::type::of(made).attr("__name__"))) + kOfObject;
  if (!transforms().find(name)) {
    transforms().add(name, TransformEntry("an object of a class in Python", &object_applied_now));
  }
  return name;
}

/// `apply_transforms` with an object in place of a name. Call with the GIL.
///
/// A chain has names alone. So the object's class gets an entry "WithoutIdentity()", which makes
/// the object that is being applied in this thread.
AppliedTransform apply_object(Network& network, const std::shared_ptr<Transform>& object) {
  const TransformChain chain = {{entry_of(object)}};
  const auto outer = std::exchange(applied_now, object);  // a transform may apply another
  const struct Restored {
    const std::shared_ptr<Transform>& former;
    ~Restored() { applied_now = former; }
  } restored{outer};
  const py::gil_scoped_release released;
  return apply_transforms(network, chain).front();
}

AppliedTransform apply(Network& network,
                       const std::variant<std::string, std::shared_ptr<Transform>>& transform,
                       const Options& options) {
  const auto* name = std::get_if<std::string>(&transform);
  const Settings settings =
      entry_settings(options, "d5.Network.apply", transforms(), name ? *name : "");
  if (const auto* object = std::get_if<std::shared_ptr<Transform>>(&transform)) {
    OptionList(Settings(settings).owned_by("an object of d5.Transform")).expect_all_known();
    return apply_object(network, *object);
  }
  const TransformChain chain = {{*name, settings}};
  const py::gil_scoped_release release;
  return apply_transforms(network, chain).front();
}

}  // namespace

void bind_apply(const py::module_& m) {
  auto network = py::reinterpret_borrow<py::class_<Network>>(m.attr("Network"));
  network.def(
      "apply", &apply, py::arg("transform"),
      "Transforms the network in place: network.apply(\"half-precision\", type=\"bfloat16\"), "
      "or by an object of a d5.Transform, network.apply(WithoutIdentity()). What a transform "
      "changes is checked: one whose outputs differ raises, and the network is as before.");
}

std::vector<std::string> names_of_transforms() {
  std::vector<std::string> names = transforms().names();
  std::erase_if(names, [](const std::string& name) { return name.ends_with(kOfObject); });
  return names;
}

}  // namespace d5::python
