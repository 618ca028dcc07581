// SPDX-License-Identifier: BSD-3-Clause
#include "open_pool.hpp"

#include "failure.hpp"
#include "other_kind.hpp"

namespace scute_tool {

open_pool::open_pool(const std::string& path, scute::options options, how mode) : path_(path) {
  if (mode == how::open_to_read) options.readonly = true;
  try {
    const std::string file = failure::library_path(path);
    pool_ =
        mode == how::create ? scute::pool::create(file, options) : scute::pool::open(file, options);
  } catch (const scute::error& error) {
    throw not_of_kind(file_kind::pool, path, error);
  }
}

void open_pool::close() {
  working_on(path_, [&] { pool_.close(); });
}

scute_info open_pool::info() const {
  return working_on(path_, [&] { return pool_.info(); });
}

scute_counters open_pool::counters() const {
  return working_on(path_, [&] { return pool_.stats(); });
}

}  // namespace scute_tool
