// SPDX-License-Identifier: BSD-3-Clause
// stop_request.hpp: Ctrl-C must remove the demo's files.
#pragma once

namespace scute_demo {

// From now on SIGINT and SIGTERM are remembered.
void catch_stop_requests();

// Throws std::runtime_error if one came.
void check_stop_request();

}  // namespace scute_demo
