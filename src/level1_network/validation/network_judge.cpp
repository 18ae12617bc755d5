// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/network_judge.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/entries/plugin.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/nodes/structure_digest.hpp"
#include "level1_network/validation/bounds_off.hpp"
#include "level1_network/validation/kept_answers.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

constexpr const char* kReference = "reference";

bool has_bytes(const Value& value) {
  return value.is_tensor() && value.tensor().defined() && value.tensor().dtype() != DType::string &&
         value.tensor().device() == Device{};
}

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), tensor.bytes()};
}

bool same_bits(const Value& a, const Value& b) {
  return has_bytes(a) && has_bytes(b) && a.tensor().desc() == b.tensor().desc() &&
         bytes_of(a.tensor()) == bytes_of(b.tensor());
}

/// Reverses the elements of every fed tensor, which gives other inputs with values in the same
/// range. The destructor restores them.
class ReversedInputs {
 public:
  explicit ReversedInputs(const ValueMap& inputs) {
    for (const auto& [name, value] : inputs) {
      if (!has_bytes(value)) continue;
      Tensor tensor = value.tensor();
      kept_.emplace_back(tensor, tensor.copy());
      reverse(tensor);
      differ_ = differ_ || !same_bits(Value(tensor), Value(kept_.back().second));
    }
  }
  ~ReversedInputs() {
    for (auto& [tensor, before] : kept_) tensor.copy_from(before);
  }
  ReversedInputs(const ReversedInputs&) = delete;
  ReversedInputs& operator=(const ReversedInputs&) = delete;
  [[nodiscard]] bool differ() const { return differ_; }

 private:
  static void reverse(Tensor& tensor) {
    const auto count = std::size_t(tensor.elements());
    if (count == 0 || tensor.bytes() % count != 0) return;  // elements of less than a byte
    const std::size_t size = tensor.bytes() / count;
    auto* bytes = static_cast<std::byte*>(tensor.raw());
    for (std::size_t i = 0, j = count - 1; i < j; ++i, --j) {
      std::swap_ranges(bytes + i * size, bytes + (i + 1) * size, bytes + j * size);
    }
  }
  std::vector<std::pair<Tensor, Tensor>> kept_;
  bool differ_ = false;
};

/// Whether some float output has elements, and all such outputs are bitwise equal in both.
bool all_the_same(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  bool any = false;
  for (const auto& [tensor, value] : a) {
    if (!tensor.starts_with("output ") || !has_bytes(value)) continue;
    if (!is_floating_point(value.tensor().dtype()) || value.tensor().elements() == 0) continue;
    const Value* other = find(b, tensor);
    if (!other || !same_bits(value, *other)) return false;
    any = true;
  }
  return any;
}

/// Build of the reference's libraries: another build may give other outputs.
std::string build_of_reference() {
  std::string words;
  for (const void* function : {reinterpret_cast<const void*>(&expand_case),
                               reinterpret_cast<const void*>(&make_executor)}) {
    Dl_info library;
    std::error_code error;
    if (dladdr(function, &library) == 0) continue;
    const auto built = std::filesystem::last_write_time(library.dli_fname, error);
    words += fmt::format(" {}", built.time_since_epoch().count());
  }
  return words;
}

/// A copy, because the caller's values may change before the next question.
ValueMap copied(const ValueMap& inputs) {
  ValueMap own;
  for (const auto& [name, value] : inputs) {
    own[name] = value.is_tensor() ? Value(value.tensor().copy({})) : value;
  }
  return own;
}

Verdict unknown(const std::string& reason) {
  return {Verdict::Is::unknown, "", printable_message(reason)};
}

Verdict verdict_from(const std::vector<Measurement>& records, const std::string& judge) {
  std::string worst, undecided, no_number, nothing;
  double times = 0;
  std::size_t failures = 0, passes = 0;
  for (const auto& record : records) {
    if (record.status == Status::mistrusted) undecided = record.reason;
    passes += record.status == Status::passed ? 1 : 0;
    if (detail::compared_nothing(record) && nothing.empty()) nothing = record.reason;
    if (detail::compared_nothing_finite(record) && no_number.empty()) no_number = record.reason;
    if (record.status != Status::failed) continue;
    ++failures;
    if (bounds_off(record) > times) {
      times = bounds_off(record);
      worst = record.reason;
    }
  }
  if (failures > 1) worst += fmt::format("; and {} tensors more", failures - 1);
  if (failures > 0) {
    return {times > kDoubtfulBounds ? Verdict::Is::wrong : Verdict::Is::doubtful, judge, worst};
  }
  if (!no_number.empty()) return {Verdict::Is::uncompared, judge, no_number};
  if (passes == 0 && !nothing.empty()) return {Verdict::Is::uncompared, judge, nothing};
  if (passes == 0) return unknown(undecided);
  return {Verdict::Is::right, judge, ""};
}

}  // namespace

std::function<Network()> opens_judged(const std::string& model, const Settings& wishes,
                                      const TransformChain& transforms) {
  TransformChain chain;
  if (kept_by(transforms) == Keeps::rounded) chain = transforms;
  return [=] { return open_model(model, wishes, chain); };
}

Verdict NetworkJudge::judge(GraphExecutor& subject, const std::string& word, const ValueMap& inputs,
                            Subject::Moment moment) {
  const InterruptibleRuns within(subject, run_.interrupt);
  std::vector<Answer> answers;
  try {
    answers = answers_of(subject, inputs, run_.begin);
  } catch (const Unsupported& error) {
    return unknown(error.what());
  }
  Verdict verdict = judge(answers, subject, word, inputs);
  const bool settled = verdict.is == Verdict::Is::right || verdict.is == Verdict::Is::doubtful;
  if (!settled || moment == Subject::Moment::before) return verdict;
  if (auto reason = stale_answers(subject, inputs, answers); !reason.empty()) {
    verdict = {Verdict::Is::wrong, who(), std::move(reason)};
  }
  reference_.reset();
  return verdict;
}

Verdict NetworkJudge::judge(const std::vector<Answer>& answers, GraphExecutor& subject,
                            const std::string& word, const ValueMap& inputs) {
  if (draws_random_numbers(graph_in_mode(subject.network(), subject.mode()).graph)) {
    return unknown("the network draws random numbers");
  }
  if (!judge_ && obstacle_.empty()) prepare(subject.network(), inputs);
  if (!judge_) return unknown(obstacle_);
  if (word == word_ && word_ != kReference) return unknown("it judges the others");
  Verdict verdict = verdict_from(judge_->judge(d5::error_record(), answers), who());
  reference_.reset();  // free its memory for the timed executor
  return verdict;
}

std::string NetworkJudge::who() const {
  return word_ + (judge_->found().no_float64.empty() ? " in float64" : "");
}

void NetworkJudge::prepare(const Network& subject, const ValueMap& inputs) {
  try {
    return ask_reference(subject, inputs);
  } catch (const Interrupted&) {
    run_.interrupt.check("judging");  // ours ended it, not the time that it may take
    obstacle_ = fmt::format(
        "the reference takes longer than {}, and no other framework could take its place",
        option_word("judge_seconds", run_.most_seconds));
  } catch (const Error& error) {
    obstacle_ = fmt::format("reference: {}", printable_message(error.what()));
  }
  for (const auto& word : run_.stand_ins()) {
    if (word == kReference) continue;
    try {
      word_ = word;
      reference_.reset();
      ask(copied(inputs));
      obstacle_.clear();
      return;
    } catch (const Interrupted&) {
      run_.interrupt.check("judging");
    } catch (const Error&) {  // the next one may
    }
  }
}

void NetworkJudge::ask_reference(const Network& subject, const ValueMap& inputs) {
  word_ = kReference;
  reference_.reset();
  if (!run_.subjects_are_as_opened) reference_ = made(run_.open());
  const std::string words = words_of(reference_ ? reference_->network() : subject, inputs);
  if (auto kept = kept_answers(words)) {
    reference_.reset();
    judge_.emplace([this]() -> GraphExecutor& { return opened(); }, copied(inputs), run_.begin,
                   std::move(*kept));
    return;
  }
  ask(copied(inputs));
  keep_answers(words, judge_->found());
}

void NetworkJudge::ask(ValueMap inputs) {
  Interrupt interrupt = run_.interrupt;
  interrupt.deadline = std::min(interrupt.deadline, now_seconds() + run_.most_seconds);
  const InterruptibleRuns within(opened(), interrupt);
  judge_.emplace([this]() -> GraphExecutor& { return opened(); }, std::move(inputs), run_.begin,
                 interrupt);
  try {
    judge_->look_for_unmoved();
  } catch (const Interrupted&) {  // ours ended it, not the time that it may take
    run_.interrupt.check("judging");
  }
}

/// Everything that determines the reference's answer, as a key.
std::string NetworkJudge::words_of(const Network& network, const ValueMap& inputs) const {
  std::string words =
      fmt::format("{} of {}, mode {}, seed {}, d5 {}{}\n", run_.of, content_digest(network.graph()),
                  name_of(run_.mode), run_.seed, D5_VERSION_STAMP, build_of_reference());
  for (const auto& [name, value] : inputs) {
    const bool known = has_bytes(value);
    words += fmt::format("{} {} {}\n", name, to_string(value.desc()),
                         known ? detail::sha256(bytes_of(value.tensor())) : "");
  }
  return words;
}

GraphExecutor& NetworkJudge::opened() {
  if (!reference_) {
    const bool stands_in = word_ != kReference && run_.open_stand_in;
    reference_ = stands_in ? run_.open_stand_in(word_) : made(run_.open());
  }
  return *reference_;
}

std::shared_ptr<GraphExecutor> NetworkJudge::made(Network network) const {
  auto executor = open_executor(word_, std::move(network), {.seed = run_.seed});
  executor->set_mode(run_.mode);
  return executor;
}

std::string NetworkJudge::stale_answers(GraphExecutor& subject, const ValueMap& inputs,
                                        const std::vector<Answer>& usual) {
  const ReversedInputs others(inputs);
  if (!others.differ()) return "";
  try {
    const BackwardBegin forward{.loss = run_.begin.loss};
    if (!all_the_same(answers_of(subject, inputs, forward), usual)) return "";
    // The network itself may give equal outputs, up to rounding error.
    std::vector<Answer> others_right = usual;
    for (auto& [tensor, value] : answers_of(opened(), inputs, forward)) {
      const auto place = std::ranges::find(others_right, tensor, &Answer::tensor);
      if (place != others_right.end()) place->value = std::move(value);
    }
    const Verdict verdict = verdict_from(judge_->judge(d5::error_record(), others_right), who());
    if (verdict.is != Verdict::Is::wrong) return "";
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // it need not run on what it was not fed
    return "";
  }
  return "its outputs do not change although its inputs do: it is returning cached results";
}

}  // namespace d5
