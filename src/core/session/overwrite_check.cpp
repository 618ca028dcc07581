// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/overwrite_check.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/failure.hpp"
#include "core/medium/mapped_medium.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core {
namespace {

// A file that a creation by an earlier version left when it was killed.
bool unfinished(const std::string& path) {
  try {
    return medium::file_handle::open(path, medium::access::read).is_only_zeros();
  } catch (const failure&) {
    return false;
  }
}

}  // namespace

medium::pool_uuid replaced_pool::uuid() const noexcept {
  medium::pool_uuid all{};
  if (sb) std::copy(std::begin(sb->uuid), std::end(sb->uuid), all.begin());
  return all;
}

std::optional<replaced_pool> check_overwrite(const std::string& path) {
  replaced_pool old;
  try {
    auto file = medium::file_handle::open(path, medium::access::write);
    old.lock = file.kept();
    auto m = medium::map_file(std::move(file), SCUTE_MEDIUM_AUTO, medium::access::read);
    old.sb = pool::read_superblock(*m, path).newest;
  } catch (const failure& e) {
    if (e.code() == SCUTE_E_NOENT) return {};
    if (e.code() == SCUTE_E_FORMAT) old.lock = {};
    if (e.code() == SCUTE_E_FORMAT && !unfinished(path))
      throw failure(SCUTE_E_EXISTS, path + " exists and is not a Scute pool, so it is left alone");
    // A pool that is damaged beyond opening may be replaced.
    if (e.code() != SCUTE_E_FORMAT && e.code() != SCUTE_E_CORRUPT && e.code() != SCUTE_E_TRUNCATED)
      throw;
  }
  return old;
}

}  // namespace scute::core
