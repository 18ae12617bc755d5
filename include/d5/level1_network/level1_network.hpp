// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/execution_event.hpp"
#include "d5/level1_network/execution_interrupt.hpp"
#include "d5/level1_network/execution_trace.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/feed.hpp"
#include "d5/level1_network/framework_overhead.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/model_source.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level1_network/network.hpp"
#include "d5/level1_network/network_bench.hpp"
#include "d5/level1_network/network_mode.hpp"
#include "d5/level1_network/network_profile.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/level1_network/planned_memory.hpp"
#include "d5/level1_network/step_info.hpp"
