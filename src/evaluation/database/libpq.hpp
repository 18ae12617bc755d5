// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libpq-fe.h>

#include "core/entries/system_library.hpp"

namespace d5::detail {

/// libpq's functions, by their names in its header.
struct Libpq {
  SystemLibrary library{"postgresql", "PostgreSQL", "install libpq5"};
#define D5_PQ(name) decltype(::PQ##name)* name = library.function<decltype(::PQ##name)>("PQ" #name)
  D5_PQ(cancel);
  D5_PQ(clear);
  D5_PQ(cmdTuples);
  D5_PQ(connectdb);
  D5_PQ(errorMessage);
  D5_PQ(exec);
  D5_PQ(execParams);
  D5_PQ(finish);
  D5_PQ(fname);
  D5_PQ(freeCancel);
  D5_PQ(freemem);
  D5_PQ(ftype);
  D5_PQ(getCancel);
  D5_PQ(getResult);
  D5_PQ(getisnull);
  D5_PQ(getlength);
  D5_PQ(getvalue);
  D5_PQ(nfields);
  D5_PQ(ntuples);
  D5_PQ(putCopyData);
  D5_PQ(putCopyEnd);
  D5_PQ(resultErrorField);
  D5_PQ(resultStatus);
  D5_PQ(sendQueryParams);
  D5_PQ(setClientEncoding);
  D5_PQ(setNoticeProcessor);
  D5_PQ(setSingleRowMode);
  D5_PQ(status);
  D5_PQ(transactionStatus);
  D5_PQ(unescapeBytea);
#undef D5_PQ
};

/// The library, loaded at its first use. Throws: as `SystemLibrary`.
inline const Libpq& libpq() {
  static const Libpq loaded;
  return loaded;
}

}  // namespace d5::detail
