// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
