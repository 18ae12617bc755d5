// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::app {

/// Of a process that goes on for long and measures nothing: what it frees it keeps for what comes
/// next, tens of megabytes at most, as glibc does by itself once it has freed something large. To
/// give pages back and take them again for each job costs more than the job's own work on them.
void keep_freed_memory();

}  // namespace d5::app
