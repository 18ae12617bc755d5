// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/access_tokens.hpp"
#include "d5/serving/agent_facts.hpp"
#include "d5/serving/http_message.hpp"
#include "d5/serving/http_server.hpp"
#include "d5/serving/inference_message.hpp"
#include "d5/serving/inference_models.hpp"
#include "d5/serving/inference_service.hpp"
#include "d5/serving/job.hpp"
#include "d5/serving/job_queue.hpp"
#include "d5/serving/job_request.hpp"
#include "d5/serving/job_state.hpp"
#include "d5/serving/route.hpp"
#include "d5/serving/server.hpp"
#include "d5/serving/serving_client.hpp"
#include "d5/serving/serving_context.hpp"
