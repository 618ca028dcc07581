// SPDX-License-Identifier: BSD-3-Clause
// Checks arguments that several calls have in common.
#pragma once

#include <cstdint>

#include "scute/scute.h"

namespace scute::core::c_api {

// Null: the defaults, modified by the environment. Its options of new pools count for new pools
// alone. Throws SCUTE_E_INVALID.
enum class options_for : uint8_t { a_new_pool, an_existing_pool };
scute_options normalise(const scute_options* given, options_for use);
// Throws SCUTE_E_INVALID, SCUTE_E_NOENT.
void need_path(const char* path);

}  // namespace scute::core::c_api
