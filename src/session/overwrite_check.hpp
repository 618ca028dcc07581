// SPDX-License-Identifier: BSD-3-Clause
// What is in the way of a new pool.
#pragma once

#include <optional>
#include <string>

#include "medium/log_paths.hpp"
#include "pool/format.hpp"

namespace scute::core {

struct replaced_pool {
  std::optional<format::superblock> sb;  // none: it is damaged

  // Zeros if nothing tells it.
  medium::pool_uuid uuid() const noexcept;
};

// The pool at path, which nobody uses; none if there is nothing. Anything else is left alone:
// SCUTE_E_EXISTS.
std::optional<replaced_pool> check_overwrite(const std::string& path);

}  // namespace scute::core
