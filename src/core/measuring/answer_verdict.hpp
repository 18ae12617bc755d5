// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/measuring/measure.hpp"

namespace d5::detail {

/// Verdicts of a subject's judge, for its records.
class AnswerVerdict {
 public:
  /// Both must outlive it.
  AnswerVerdict(const Subject& subject, const MeasureOptions& options)
      : subject_(subject), options_(options) {}

  /// Calls the judge. A wrong verdict is final. A judge that throws yields `unknown`; Interrupted
  /// is rethrown.
  void ask(Subject::Moment moment);
  /// Writes the verdict to `record`; nothing for a subject without a judge.
  void tell(Measurement& record) const;

 private:
  const Subject& subject_;
  const MeasureOptions& options_;
  Verdict verdict_ = {};
};

}  // namespace d5::detail
