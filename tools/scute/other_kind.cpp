// SPDX-License-Identifier: BSD-3-Clause
#include "other_kind.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

namespace scute_tool {

failure not_of_kind(file_kind wanted, const std::string& path, const scute::error& error) {
  constexpr std::string_view of_pools = "SCUTE\r\n\x1a", of_stores = "ScutePOW";
  std::string begin(8, '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), 8);
  const bool to_pow = wanted == file_kind::pool;
  if (error.which() != scute::errc::format || begin != (to_pow ? of_stores : of_pools))
    return {path, error};
  return {exit_not_a_pool, path,
          fmt::format("this file is a {}; the commands for it are those of `scute{}`, such as "
                      "`scute{} info {}`",
                      to_pow ? "persist-on-write file" : "pool", to_pow ? " pow" : "",
                      to_pow ? " pow" : "", path)};
}

}  // namespace scute_tool
