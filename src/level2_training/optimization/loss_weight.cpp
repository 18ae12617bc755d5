// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/loss_weight.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "level1_network/nodes/value_descs.hpp"
#include "level2_training/losses/parts/loss_reading.hpp"

namespace d5 {
namespace {

const Value& field_of(const ValueMap& fields, const std::string& name, const std::string& loss) {
  const auto place = fields.find(name);
  if (place != fields.end()) return place->second;
  throw NotFound(fmt::format(
      "loss '{}': what counts in it is given by '{}', which the batch does not hold; feed it",
      printable(loss), printable(name)));
}

/// A tensor computed by nodes from the batch alone.
class Made {
 public:
  Made(const Network& network, const std::string& tensor)
      : name_(tensor), inputs_(), executor_(make_executor(behind(network, tensor))) {
    inputs_ = executor_->network().input_names();
  }
  const Tensor& of(const ValueMap& fields, const std::string& loss) {
    for (const auto& name : inputs_) fed_[name] = field_of(fields, name, loss);
    return executor_->inference(fed_).at(name_).tensor();
  }

 private:
  static Network behind(const Network& network, const std::string& tensor) {
    return detail::network_behind(network, tensor);
  }
  std::string name_;
  std::vector<std::string> inputs_;
  std::unique_ptr<GraphExecutor> executor_;
  ValueMap fed_;
};

}  // namespace

struct LossWeight::State {
  State(Network of, std::string name) : network(std::move(of)), loss(std::move(name)) {}

  Network network;
  std::string loss;
  std::optional<std::uint64_t> revision = {};  // revision at the last reading
  detail::LossReading reading = {};
  std::map<std::string, std::unique_ptr<Made>, std::less<>> made = {};
  std::map<std::vector<std::int64_t>, double> elements = {};  // keyed by the shapes that were fed
  std::map<std::string, std::optional<std::int64_t>, std::less<>> ignored = {};  // keyed by field

  void read() {
    if (revision == network.revision()) return;
    reading = detail::read_loss(network, loss);
    made.clear();
    elements.clear();
    ignored.clear();
    revision = network.revision();
  }

  /// The value of a field, of a constant, or of a tensor computed from fields.
  const Tensor& value(const std::string& tensor, const ValueMap& fields) {
    if (!network.producer(tensor)) {
      const auto& constants = network.graph().initializers;
      return constants.contains(tensor) ? network.fetch(tensor)
                                        : field_of(fields, tensor, loss).tensor();
    }
    auto& one = made[tensor];
    if (!one) one = std::make_unique<Made>(network, tensor);
    return one->of(fields, loss);
  }

  double elements_of(const ValueMap& fields, std::int64_t samples) {
    const auto inputs = network.input_names();
    std::vector<std::int64_t> key;
    ValueDescs known;
    for (const auto& name : inputs) {
      const Value& value = field_of(fields, name, loss);
      if (!value.is_tensor()) continue;
      const TensorDesc& desc = value.tensor().desc();
      key.push_back(std::int64_t(desc.shape.rank()));
      key.insert(key.end(), desc.shape.begin(), desc.shape.end());
      known[name] = TensorDesc{desc.dtype, desc.shape};
    }
    const auto place = elements.find(key);
    if (place != elements.end()) return place->second;
    constexpr std::size_t kMost = 1024;  // shapes that are remembered
    if (elements.size() >= kMost) elements.clear();
    const auto descs = infer_values(network.graph(), std::move(known));
    const auto desc = descs.find(reading.tensor);
    const bool is_known = desc != descs.end() && desc->second.is_static();
    return elements[key] =
               is_known ? double(desc->second.tensor.shape.elements()) : double(samples);
  }

  double number_of(const ValueMap& fields) {
    const Tensor number = value(reading.tensor, fields).on_host();
    if (number.elements() != 1) {
      throw ShapeError(fmt::format("loss '{}' is divided by '{}', which is {}; expected one number",
                                   printable(loss), printable(reading.tensor),
                                   to_string(number.desc())));
    }
    double result = 0;
    dispatch(NumberTypes{}, number.dtype(), "what a loss is divided by",
             [&]<class T>() { result = double(*number.data<T>()); });
    return result;
  }

  double targets_of(const ValueMap& fields) {
    const Tensor targets = value(reading.tensor, fields).on_host();
    std::vector<double> weights;
    if (!reading.weights.empty()) {
      const Tensor given = value(reading.weights, fields).on_host();
      dispatch(FloatTypes{}, given.dtype(), "weights of classes", [&]<class T>() {
        for (const T weight : given.span<T>()) weights.push_back(double(weight));
      });
    }
    double sum = 0;
    dispatch(Types<std::int64_t, std::int32_t>{}, targets.dtype(), "targets", [&]<class T>() {
      for (const std::int64_t target : targets.span<T>()) {
        if (reading.ignored == target) continue;
        const bool is_class = target >= 0 && target < std::int64_t(weights.size());
        sum += weights.empty() ? 1 : is_class ? weights[std::size_t(target)] : 0;
      }
    });
    return sum;
  }
};

LossWeight::LossWeight(Network network, std::string loss)
    : state_(std::make_unique<State>(std::move(network), std::move(loss))) {}
LossWeight::~LossWeight() = default;
LossWeight::LossWeight(LossWeight&&) noexcept = default;
LossWeight& LossWeight::operator=(LossWeight&&) noexcept = default;

LossWeight::State& LossWeight::state() {
  state_->read();
  return *state_;
}

LossWeight::Kind LossWeight::kind() {
  const detail::LossReading& reading = state().reading;
  if (reading.is == detail::LossReading::Is::sum) return Kind::sum;
  return reading.is == detail::LossReading::Is::mean &&
                 reading.by != detail::LossReading::By::samples
             ? Kind::counted
             : Kind::samples;
}

double LossWeight::of(const ValueMap& fields, std::int64_t samples) {
  State& of = state();
  if (kind() != Kind::counted) return double(samples);
  switch (of.reading.by) {
    case detail::LossReading::By::elements:
      return of.elements_of(fields, samples);
    case detail::LossReading::By::targets:
      return of.targets_of(fields);
    case detail::LossReading::By::number:
      return of.number_of(fields);
    case detail::LossReading::By::samples:
      break;
  }
  return double(samples);
}

bool LossWeight::counts(const Batch& batch) {
  if (batch.size == 0 && batch.global_size > 0) return false;
  return kind() != Kind::counted || of(batch) != 0;
}

double LossWeight::share(double part, double whole) {
  State& of = state();
  if (of.reading.is == detail::LossReading::Is::sum) return 1;
  if (part != whole && !of.reading.joins) {
    throw Unsupported(fmt::format(
        "loss '{}': {}, so the gradients of a batch's parts cannot be combined by weights; train "
        "each batch in one piece and on one rank, or make the loss one mean",
        printable(of.loss), of.reading.why));
  }
  return part == 0 ? 0 : part / whole;
}

double LossWeight::share(RankAgreement& ranks, const Batch& batch) {
  if (kind() != Kind::counted) {
    return batch.global_size == 0 ? share(1, ranks.ranks())
                                  : share(double(batch.size), double(batch.global_size));
  }
  const double mine = batch.size == 0 && batch.global_size > 0 ? 0 : of(batch);
  const double all = ranks.sum(mine);
  if (all != 0) return share(mine, all);
  throw NumericError(fmt::format(
      "loss '{}': nothing of batch {} of epoch {} counts on any rank ({}); look at its targets, or "
      "leave the batch out",
      printable(state().loss), batch.index + 1, batch.epoch + 1, counted()));
}

double LossWeight::join(RankAgreement& ranks, double mine, const Batch& batch) {
  if (ranks.ranks() == 1) return mine;
  const bool has_any = batch.size > 0 || batch.global_size == 0;
  if (kind() == Kind::sum) return ranks.sum(has_any ? mine : 0);
  if (kind() == Kind::samples) return ranks.mean(mine, batch);
  return ranks.mean(mine, has_any ? of(batch) : 0);
}

std::optional<std::int64_t> LossWeight::ignored(std::string_view field) {
  State& of = state();
  const detail::LossReading& reading = of.reading;
  if (reading.by != detail::LossReading::By::number &&
      reading.by != detail::LossReading::By::targets)
    return {};
  const auto known = of.ignored.find(field);
  if (known != of.ignored.end()) return known->second;
  const bool reads = detail::origin_of(of.network, reading.tensor) == field;
  return of.ignored[std::string(field)] =
             reading.by == detail::LossReading::By::number
                 ? detail::compared_class(of.network, reading.tensor, field)
             : reads ? reading.ignored
                     : std::nullopt;
}

std::string LossWeight::counted() {
  const detail::LossReading& reading = state().reading;
  if (reading.is == detail::LossReading::Is::sum) return "a sum: parts are added";
  if (kind() != Kind::counted) return "";
  if (reading.by == detail::LossReading::By::elements)
    return fmt::format("elements of '{}'", printable(reading.tensor));
  if (reading.by == detail::LossReading::By::number)
    return fmt::format("what '{}' says", printable(reading.tensor));
  std::string words = "targets";
  if (reading.ignored) words += fmt::format(" that are not {}", *reading.ignored);
  if (!reading.weights.empty()) words += ", by the weights of their classes";
  return words;
}

std::string LossWeight::assumption() {
  const detail::LossReading& reading = state().reading;
  if (reading.is != detail::LossReading::Is::other) return "";
  return reading.why;
}

}  // namespace d5
