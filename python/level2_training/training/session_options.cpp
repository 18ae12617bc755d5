// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/session_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/entries/unknown_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/tensor/device.hpp"
#include "level2_training/training/python_metric.hpp"
#include "level2_training/training/python_training_event.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

using Words = std::vector<std::string>;

/// Keywords, each taken once.
class Keywords {
 public:
  explicit Keywords(const Options& all) : left_(all.attr("copy")()) {
    if (!left_.contains("framework")) return;
    if (left_.contains("frameworks")) {
      throw TypeError("framework and frameworks are one keyword; give one of them");
    }
    left_["frameworks"] = left_.attr("pop")("framework");
  }

  template <class T>
  T take(const char* name, T fallback) {
    known_.emplace_back(name);
    if (!left_.contains(name)) return fallback;
    py::object value = left_.attr("pop")(name);
    if (is_list<T> && py::isinstance<py::str>(value)) value = value.attr("split")(",");
    try {
      return value.cast<T>();
    } catch (const py::cast_error&) {
      throw TypeError(fmt::format("{} is {}, expected {}", name, shown(value), expected<T>(name)));
    } catch (const py::error_already_set& raised) {
      if (!raised.matches(PyExc_TypeError) || !is_list<T>) throw;
      throw TypeError(fmt::format("{} is {}, expected {}", name, shown(value), expected<T>(name)));
    }
  }
  void expect_all_taken() const {
    if (left_.empty()) return;
    throw_unknown_keyword("option of training", left_, known_,
                          "; the recipe's values are changed by "
                          "recipe.changed(\"training.epochs=2\"), or by overrides of d5.train");
  }

 private:
  template <class T>
  static constexpr bool is_list = std::is_same_v<T, py::list> || std::is_same_v<T, Words>;

  template <class T>
  static std::string expected(const char* name) {
    if (is_list<T>) return fmt::format("a list: {}=[...]", name);
    if (std::is_same_v<T, bool>) return "bool";
    if (std::is_same_v<T, Path> || std::is_same_v<T, std::string>) return "a text or a path";
    return std::is_integral_v<T> ? "int" : "int or a text such as 512MiB";
  }

  py::dict left_;
  std::vector<std::string> known_;
};

}  // namespace

void throw_unknown_keyword(const char* what, const py::dict& left,
                           const std::vector<std::string>& known, const char* way_out) {
  try {
    throw_unknown_name(what, py::str(py::list(left)[0]).cast<std::string>(), known);
  } catch (const NotFound& unknown) {
    throw UnknownOption(unknown.what() + std::string(way_out));
  }
}

Recipe to_recipe(const RecipeOrFile& recipe) {
  if (const auto* made = std::get_if<Recipe>(&recipe)) return *made;
  return load_recipe(std::get<Path>(recipe).string());
}

std::function<void(const std::string&)> to_say(const Anything& say) {
  if (say.is_none()) return {};
  if (!PyCallable_Check(say.ptr())) {
    throw TypeError(
        fmt::format("say is {}, expected a function of a line, such as print", shown(say)));
  }
  const auto function = std::make_shared<PythonReference>(say);
  return [function](const std::string& line) { call_python([&] { function->object(line); }); };
}

void expect_checkpoint(const std::string& checkpoint, std::int64_t every, std::int64_t kept) {
  if (!checkpoint.empty()) return;
  const bool is_every = every != TrainerOptions{}.checkpoint_every && every >= 1;
  if (!is_every && (kept == TrainerOptions{}.checkpoints_kept || kept < 1)) return;
  throw ValueError(fmt::format("trainer: {} is given without checkpoint, the file to write",
                               is_every ? "checkpoint_every" : "checkpoints_kept"));
}

SessionOptions to_session_options(const Options& keywords) {
  Keywords given(keywords);
  SessionOptions session;
  session.frameworks = given.take("frameworks", session.frameworks);
  for (const auto& rule : given.take("placement", Words{})) {
    session.placement.push_back(placement_rule(rule));
  }
  session.device = device_from_name(given.take<std::string>("device", "cpu"));
  const auto limit =
      given.take("memory_limit", std::variant<std::size_t, std::string>(std::size_t{0}));
  const auto* words = std::get_if<std::string>(&limit);
  session.memory_limit = words ? byte_count(*words) : std::get<std::size_t>(limit);
  session.recompute = given.take("recompute", Words{});
  session.data = given.take<Path>("data", "").string();
  session.checkpoint = given.take<Path>("checkpoint", "").string();
  session.checkpoint_every = given.take("checkpoint_every", session.checkpoint_every);
  session.checkpoints_kept = given.take("checkpoints_kept", session.checkpoints_kept);
  expect_checkpoint(session.checkpoint, session.checkpoint_every, session.checkpoints_kept);
  session.resume = given.take<Path>("resume", "").string();
  session.init.path = given.take<Path>("init", "").string();
  if (given.take("init_skip_differing", false)) {
    session.init.differing = InitialValues::Differing::leave;
  }
  if (session.init.differing == InitialValues::Differing::leave && session.init.path.empty()) {
    throw ValueError("init_skip_differing is given without init: the file with the initial values");
  }
  session.save = given.take<Path>("save", "").string();
  session.loader_threads = given.take("loader_threads", session.loader_threads);
  const py::list metrics = given.take("metrics", py::list());
  if (metrics.empty() && keywords.contains("metrics")) {
    throw ValueError("metrics is [], expected one or more; leave it out for the usual ones");
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const py::object metric = metrics[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (!py::isinstance<py::str>(metric) && py::object(metrics[k]).is(metric)) {
        throw ValueError(fmt::format("metrics has {} twice, expected each once", shown(metric)));
      }
    }
    session.metrics.push_back(to_metric_choice(metric));
  }
  std::vector<py::handle> events;
  for (const py::handle event : given.take("events", py::list())) {
    const auto is_it = [&](const py::handle& other) { return other.is(event); };
    if (std::ranges::any_of(events, is_it)) {
      throw ValueError(fmt::format("events has {} twice, which would count twice", shown(event)));
    }
    events.push_back(event);
    session.observers.push_back(training_event(py::reinterpret_borrow<py::object>(event)));
  }
  session.say = to_say(given.take<Anything>("say", py::none()));
  given.expect_all_taken();
  return session;
}

}  // namespace d5::python
