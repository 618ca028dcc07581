// SPDX-License-Identifier: BSD-3-Clause
// open_pool.hpp: a pool that is open while the object lives, and its name for messages.
#pragma once

#include <scute/scute.hpp>

#include <string>

namespace scute_tool {

class open_pool {
 public:
  enum class how { create, open_to_write, open_to_read };

  // Throws failure.
  open_pool(const std::string& path, scute::options options, how mode);

  // To learn whether closing succeeded. Throws failure.
  void close();

  const std::string& path() const { return path_; }
  const scute::pool& pool() const { return pool_; }
  operator scute_pool*() const { return pool_.native_handle(); }
  scute_info info() const;
  scute_counters counters() const;

 private:
  std::string path_;
  scute::pool pool_;
};

}  // namespace scute_tool
