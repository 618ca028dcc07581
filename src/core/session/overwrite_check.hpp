// SPDX-License-Identifier: BSD-3-Clause
// Checks what a new pool would overwrite.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/locks/kept_lock.hpp"
#include "core/layout/format.hpp"
#include "core/medium/log_paths.hpp"

namespace scute::core {

// While this lives no process opens the pool (FILE-7).
struct replaced_pool {
  std::optional<format::superblock> sb;  // none: it is damaged
  std::shared_ptr<kept_lock> lock = {};  // null: the caller has the pool locked

  // Zeros if the uuid is unknown.
  medium::pool_uuid uuid() const noexcept;
};

// Returns the pool at path, which no process uses; none if nothing exists there. Any other file is
// left alone: SCUTE_E_EXISTS.
std::optional<replaced_pool> check_overwrite(const std::string& path);

}  // namespace scute::core
