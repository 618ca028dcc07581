// SPDX-License-Identifier: BSD-3-Clause
// Persist-on-write files on a file system.
#pragma once

#include <memory>
#include <string>

#include "pow/store.hpp"

namespace scute::core::pow {

struct file_options {
  scute_medium medium = SCUTE_MEDIUM_AUTO;
  unsigned mode = 0600;
  bool may_create = true;
  bool may_exist = true;
  bool read_only = false;  // nothing reaches the file; it has to be there
  shape fresh;             // of a file that is made; its uuid is chosen
  store_options how;
};

// Throws failure: SCUTE_E_NOENT, SCUTE_E_EXISTS, SCUTE_E_BUSY, SCUTE_E_FORMAT, SCUTE_E_VERSION,
// SCUTE_E_TRUNCATED, SCUTE_E_CORRUPT, SCUTE_E_NOSPC, SCUTE_E_IO, SCUTE_E_UNSUPPORTED,
// SCUTE_E_INVALID.
std::unique_ptr<store> open_file(const std::string& path, const file_options& w);

}  // namespace scute::core::pow
