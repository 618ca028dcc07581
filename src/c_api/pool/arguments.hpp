// SPDX-License-Identifier: BSD-3-Clause
// Checks arguments that several calls have in common.
#pragma once

#include "scute/scute.h"

namespace scute::core::c_api {

// Null: the defaults, modified by the environment. Throws SCUTE_E_INVALID.
scute_options normalise(const scute_options* given);
// Throws SCUTE_E_INVALID, SCUTE_E_NOENT.
void need_path(const char* path);

}  // namespace scute::core::c_api
