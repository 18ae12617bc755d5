// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/answer_verdict.hpp"

#include <string>
#include <utility>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using Is = Verdict::Is;

Verdict verdict_of(const Subject& subject, Subject::Moment moment) {
  try {
    return subject.judge(moment);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    return {.reason = printable_message(error.what())};
  }
}

}  // namespace

void AnswerVerdict::ask(Subject::Moment moment) {
  if (!subject_.judge || options_.unjudged || verdict_.is == Is::wrong) return;
  const bool was_right = verdict_.is == Is::right || verdict_.is == Is::doubtful;
  const Verdict before = std::exchange(verdict_, verdict_of(subject_, moment));
  if (before.is == Is::doubtful && verdict_.is == Is::right) verdict_ = before;
  if (verdict_.is == Is::wrong && was_right) {
    verdict_.reason = "right before the clock ran, wrong after it: " + verdict_.reason;
  }
}

void AnswerVerdict::tell(Measurement& record) const {
  if (!subject_.judge) return;
  constexpr const char* kWords[] = {"right", "doubtful", "wrong", "not judged", "not compared"};
  record.conditions["answers"] = finding(kWords[int(verdict_.is)]);
  if (!verdict_.judge.empty()) record.conditions["judge"] = finding(verdict_.judge);
  if (verdict_.is == Is::unknown) {
    record.conditions["judge"] =
        finding("none: " + (options_.unjudged ? option_word("unjudged") : verdict_.reason));
  }
  if (verdict_.is == Is::doubtful) mistrust(record, "doubtful answers: " + verdict_.reason);
  if (verdict_.is == Is::uncompared) mistrust(record, "nothing was compared: " + verdict_.reason);
  if (verdict_.is != Is::wrong || record.status == Status::failed) return;
  record.status = Status::failed;
  record.reason = "wrong answers: " + verdict_.reason;
}

}  // namespace d5::detail
