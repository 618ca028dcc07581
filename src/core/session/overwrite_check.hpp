// SPDX-License-Identifier: BSD-3-Clause
// Checks what a new pool would overwrite.
#pragma once

#include <optional>
#include <string>

#include "core/layout/format.hpp"
#include "core/medium/log_paths.hpp"

namespace scute::core {

struct replaced_pool {
  std::optional<format::superblock> sb;  // none: it is damaged

  // Zeros if the uuid is unknown.
  medium::pool_uuid uuid() const noexcept;
};

// Returns the pool at path, which no process uses; none if nothing exists there. Any other file is
// left alone: SCUTE_E_EXISTS.
std::optional<replaced_pool> check_overwrite(const std::string& path);

}  // namespace scute::core
