// SPDX-License-Identifier: BSD-3-Clause
// A file that is being opened, and that the supervisor keeps from all other supervisors
// (SUPLOCK-1).
#pragma once

#include <cerrno>
#include <string>

#include "base/failure.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/process/supervisor_link.hpp"
#include "shield/supervisor/pool_backing.hpp"

namespace scute::core::interpose {

// A file that the supervisor has claimed; the claim ends if the opening fails. Throws failure: then
// no process opens the file (OUTLOOK-2, SUPLOCK-1).
class claimed_file {
 public:
  claimed_file(const std::string& path, const file_identity& id) : id_(id) {
    if (const std::string why = supervisor::why_unprotected(path); !why.empty())
      throw failure(SCUTE_E_FORMAT, why);
    if (claim_file(path, id.device, id.inode)) return;
    if (errno != EBUSY) throw_errno("claim " + path + " at the supervisor of its views", errno);
    throw failure(SCUTE_E_BUSY,
                  path +
                      " is in use by another `scute shield run`: its program has the file open, or "
                      "has just ended and is being written back; try again in a moment");
  }
  ~claimed_file() {
    if (!kept_) disclaim_file(id_.device, id_.inode);
  }
  claimed_file(const claimed_file&) = delete;
  claimed_file& operator=(const claimed_file&) = delete;
  void keep() noexcept { kept_ = true; }

 private:
  const file_identity& id_;
  bool kept_ = false;
};

}  // namespace scute::core::interpose
