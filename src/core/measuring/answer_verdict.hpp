// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/measuring/measure.hpp"

namespace d5::detail {

/// What a subject's judge found, as its records tell it.
class AnswerVerdict {
 public:
  /// Both outlive it.
  AnswerVerdict(const Subject& subject, const MeasureOptions& options)
      : subject_(subject), options_(options) {}

  /// Once wrong, always wrong. A judge that throws knows nothing; Interrupted goes on.
  void ask(Subject::Moment moment);
  /// Nothing of a subject without a judge.
  void tell(Measurement& record) const;

 private:
  const Subject& subject_;
  const MeasureOptions& options_;
  Verdict verdict_ = {};
};

}  // namespace d5::detail
