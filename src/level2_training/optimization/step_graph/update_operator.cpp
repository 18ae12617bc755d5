// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/step_graph/update_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/level2_training/optimization/hyper_parameters.hpp"
#include "d5/level2_training/optimization/step_graph.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

namespace d5::detail {
namespace {

constexpr const char *kOptimizer = "optimizer", *kHyperParameters = "hyper_parameters",
                     *kMasters = "masters";

bool is_short(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

/// Text of an option, whatever the type of its attribute.
std::string text_of(const onnx::Node& node, const std::string& name,
                    const onnx::Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) return std::to_string(*integer);
  if (const auto* real = std::get_if<float>(&attribute)) return fmt::format("{}", *real);
  throw TypeError(fmt::format(
      "{}: attribute {} is a list, a tensor or a graph, expected an option's number or text",
      onnx::describe(node), printable(name)));
}

double real_of(const Tensor& tensor) {
  return tensor.dtype() == DType::float32 ? double(tensor.item<float>()) : tensor.item<double>();
}

class UpdateKernel final : public Kernel {
 public:
  UpdateKernel(std::unique_ptr<UpdateRule> rule, UpdateWords words, UpdatePlaces places)
      : rule_(std::move(rule)), words_(std::move(words)), at_(places), numbers_(at_.numbers) {
    hyper_parameters_.bind(*rule_);
    parameters_.reserve(at_.parameters);
  }

  void forward(OpContext& context) override {
    begin(context);
    parameters_.clear();
    for (std::size_t p = 0; p < at_.parameters; ++p) {
      RuleParameter parameter{.gradient = context.input(at_.gradient(p)),
                              .value = taken_over(context, at_.parameter(p), at_.new_parameter(p)),
                              .slots = {}};
      for (std::size_t s = 0; s < at_.slots; ++s) {
        parameter.slots.push_back(&taken_over(context, at_.slot(s, p), at_.new_slot(s, p)));
      }
      if (at_.masters && context.has_input(at_.master(p))) {
        parameter.master = taken_over(context, at_.master(p), at_.new_master(p)).data<float>();
      }
      parameters_.push_back(std::move(parameter));
    }
    rule_->update(parameters_);
  }

 private:
  void begin(OpContext& context) {
    const auto step = context.input(0).item<std::int64_t>();
    if (step < 1) {
      throw ValueError(
          fmt::format("{}: the step's number is {}, expected one from 1 on", context.who(), step));
    }
    for (std::size_t h = 0; h < at_.hyper_parameters; ++h) {
      hyper_parameters_.set(words_.hyper_parameters[h],
                            real_of(context.input(at_.hyper_parameter(h))));
    }
    for (std::size_t i = 0; i < at_.numbers; ++i) {
      numbers_[i] = context.input(at_.number(i)).item<double>();
    }
    rule_->begin_step(step, numbers_);
    for (std::size_t i = 0; i < at_.numbers; ++i) *context.output(i).data<double>() = numbers_[i];
  }

  static Tensor& taken_over(OpContext& context, std::size_t input, std::size_t output) {
    Tensor& result = context.output(output);
    result.copy_from(context.input(input));
    return result;
  }

  std::unique_ptr<UpdateRule> rule_;
  UpdateWords words_;
  UpdatePlaces at_;
  HyperParameters hyper_parameters_;
  std::vector<double> numbers_;
  std::vector<RuleParameter> parameters_;
};

class Update final : public Operator {
 public:
  explicit Update(const onnx::Node& node)
      : words_(words_of(node)), rule_(make_update_rule(words_.optimizer, words_.settings)) {
    at_ = {.hyper_parameters = words_.hyper_parameters.size(),
           .numbers = rule_->numbers().size(),
           .slots = rule_->slots().size(),
           .parameters = 0,
           .masters = words_.masters};
    const std::size_t each = 2 + at_.slots + (at_.masters ? 1 : 0);
    const std::size_t before = at_.number(at_.numbers);
    at_.parameters = node.inputs.size() > before ? (node.inputs.size() - before) / each : 0;
    if (at_.parameters == 0 || node.inputs.size() != at_.inputs() ||
        node.outputs.size() != at_.outputs()) {
      throw ShapeError(fmt::format(
          "{}: it has {} inputs and {} outputs, expected the step's number, {} hyper-parameters "
          "and {} numbers, then {} inputs a parameter; and {} outputs, then {} a parameter",
          onnx::describe(node), node.inputs.size(), node.outputs.size(), at_.hyper_parameters,
          at_.numbers, each, at_.numbers, each - 1));
    }
    HyperParameters known;
    known.bind(*rule_);
    for (const std::string& name : words_.hyper_parameters) (void)known.at(name);
  }

  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override {
    expect_number(context, 0, {DType::int64});
    for (std::size_t h = 0; h < at_.hyper_parameters; ++h) {
      expect_number(context, at_.hyper_parameter(h), {DType::float64, DType::float32});
    }
    std::vector<ValueDesc> outputs(at_.outputs());
    for (std::size_t i = 0; i < at_.numbers; ++i) {
      expect_number(context, at_.number(i), {DType::float64});
      outputs[i] = context.input(at_.number(i));
    }
    for (std::size_t p = 0; p < at_.parameters; ++p) infer_parameter(context, p, outputs);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const bool is_made = outputs[k].kind != ValueKind::none;
      if (is_made == context.wants_output(k)) continue;
      throw ShapeError(
          fmt::format("{}: output {} is {}, expected all that a step changes, and no "
                      "masters of parameters that have more than 16 bits",
                      context.who(), k, is_made ? "left out" : "wanted"));
    }
    return outputs;
  }

  [[nodiscard]] Cost cost(const InferContext& context) const override {
    return bytes_only(context);  // rules do not declare their operations per element
  }

  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<UpdateKernel>(make_update_rule(words_.optimizer, words_.settings),
                                          words_, at_);
  }

 private:
  static void expect_number(const InferContext& context, std::size_t input,
                            std::initializer_list<DType> types) {
    const TensorDesc& desc = context.input(input);
    if (std::ranges::find(types, desc.dtype) == types.end()) {
      throw TypeError(fmt::format("{}: input {} is {}, expected {}", context.who(), input,
                                  to_string(desc), name_of(*types.begin())));
    }
    if (desc.elements() != 1) {
      throw ShapeError(fmt::format("{}: input {} is {}, expected one element", context.who(), input,
                                   to_string(desc)));
    }
  }

  static void expect(const InferContext& context, std::size_t input, DType dtype,
                     const Shape& shape, const std::string& what) {
    const TensorDesc& desc = context.input(input);
    const auto message = [&] {
      return fmt::format("{}: input {} is {}, expected {} of {}", context.who(), input,
                         to_string(desc), to_string(TensorDesc{dtype, shape}), what);
    };
    if (desc.dtype != dtype) throw TypeError(message());
    if (desc.shape != shape) throw ShapeError(message());
  }

  void infer_parameter(const InferContext& context, std::size_t p,
                       std::vector<ValueDesc>& outputs) const {
    const TensorDesc& parameter = context.input(at_.parameter(p));
    if (!is_floating_point(parameter.dtype)) {
      throw TypeError(fmt::format("{}: input {} is {}, expected a parameter of real numbers",
                                  context.who(), at_.parameter(p), to_string(parameter)));
    }
    const std::string of = fmt::format("its parameter, input {}", at_.parameter(p));
    const DType wide = is_short(parameter.dtype) ? DType::float32 : parameter.dtype;
    expect(context, at_.gradient(p), parameter.dtype, parameter.shape, "the gradient of " + of);
    outputs[at_.new_parameter(p)] = parameter;
    const auto names = rule_->slots();
    for (std::size_t s = 0; s < at_.slots; ++s) {
      expect(context, at_.slot(s, p), wide, rule_->slot_shape(s, parameter.shape),
             fmt::format("the {} of {}", names[s], of));
      outputs[at_.new_slot(s, p)] = context.input(at_.slot(s, p));
    }
    const bool has_master = at_.masters && context.has_input(at_.master(p));
    if (is_short(parameter.dtype) != has_master) {
      throw TypeError(fmt::format(
          "{}: {} is {} and has {} master, expected one of each parameter of 16 bits and of no "
          "other (attribute masters=1)",
          context.who(), of, to_string(parameter), has_master ? "a" : "no"));
    }
    if (!has_master) return;
    expect(context, at_.master(p), wide, parameter.shape, "the master of " + of);
    outputs[at_.new_master(p)] = context.input(at_.master(p));
  }

  UpdateWords words_;
  std::unique_ptr<UpdateRule> rule_;
  UpdatePlaces at_;
};

}  // namespace

bool is_update(const onnx::Node& node) {
  return node.domain == kUpdateDomain && node.op_type == kUpdate;
}

UpdateWords words_of(const onnx::Node& node) {
  UpdateWords words;
  std::map<std::string, std::string, std::less<>> settings;
  for (const auto& [name, attribute] : node.attributes) {
    if (name == kOptimizer) {
      words.optimizer = *node.attribute<std::string>(name);
    } else if (name == kHyperParameters) {
      words.hyper_parameters = *node.attribute<std::vector<std::string>>(name);
    } else if (name == kMasters) {
      words.masters = *node.attribute<std::int64_t>(name) != 0;
    } else {
      settings[name] = text_of(node, name, attribute);
    }
  }
  if (words.optimizer.empty()) {
    throw NotFound(fmt::format("{}: it has no attribute optimizer, expected the name of one: adam",
                               onnx::describe(node)));
  }
  words.settings = Settings(onnx::describe(node), std::move(settings));
  return words;
}

void write_words(const UpdateWords& words, onnx::Node& node) {
  node.op_type = kUpdate;
  node.domain = kUpdateDomain;
  node.opset = 1;
  for (const auto& [name, text] : words.settings.values()) node.attributes[name] = text;
  node.attributes[kOptimizer] = words.optimizer;
  if (!words.hyper_parameters.empty()) node.attributes[kHyperParameters] = words.hyper_parameters;
  if (words.masters) node.attributes[kMasters] = std::int64_t{1};
}

}  // namespace d5::detail

namespace d5 {

void add_update_operator() {
  static std::once_flag added;
  std::call_once(added, [] {
    add_custom_operator(
        detail::kUpdate, {.domain = detail::kUpdateDomain},
        [](const onnx::Node& node) { return std::make_unique<detail::Update>(node); });
  });
}

}  // namespace d5
