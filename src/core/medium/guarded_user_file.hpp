// SPDX-License-Identifier: BSD-3-Clause
// A user's file whose permissions were taken away (`scute shield add --guard`): each opening
// restores them for a moment (GUARDED-2).
#pragma once

#include <string>

#include "core/medium/user_file.hpp"

namespace scute::core::medium {

// guarded: such a file, whose ctime proves nothing (IDENT-1).
bool is_same(const file_identity& a, const file_identity& b, bool guarded) noexcept;

// require_unused() for such a file. mode: the permissions that it had, as for open_user_file().
void require_unused(const std::string& path, unsigned mode);

}  // namespace scute::core::medium
