// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/all_reduce_validation.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/communication_call.hpp"
#include "d5/level3_distributed/communication_event.hpp"
#include "d5/level3_distributed/communication_volume.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "d5/level3_distributed/communicator_decorator.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "d5/level3_distributed/distributed_sampler.hpp"
#include "d5/level3_distributed/distributed_trace.hpp"
#include "d5/level3_distributed/distributed_training.hpp"
#include "d5/level3_distributed/gather_records.hpp"
#include "d5/level3_distributed/scaling_table.hpp"
#include "d5/level3_distributed/schedule.hpp"
#include "d5/level3_distributed/traced_run.hpp"
#include "d5/level3_distributed/traffic.hpp"
