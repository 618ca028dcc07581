// SPDX-License-Identifier: BSD-3-Clause
// A pool file mapped into memory: kinds dax, file and ram.
#pragma once

#include <memory>

#include "core/file/file_handle.hpp"
#include "core/medium/medium.hpp"
#include "scute/scute.h"

namespace scute::core::medium {

// Maps the file. `wanted` AUTO chooses the kind: tmpfs is ram, a file system that grants MAP_SYNC
// is dax, everything else is file. A kind that the file cannot provide (dax without MAP_SYNC) fails
// with SCUTE_E_UNSUPPORTED. `file` and `ram` may be chosen anywhere; `ram` on a disk file survives
// only the death of the process. If the file is to be read only, the mapping is private: recovery
// may write to it, and the file stays as it is.
struct mapping_options {
  uint64_t reach =
      0;  // as many bytes are mapped, if the file has fewer: medium::grow() brings them
  bool by_calls = false;  // kind file: written by system calls, not by stores
};
std::unique_ptr<medium> map_file(file_handle file, scute_medium wanted, access how,
                                 const mapping_options& more = {});

// The kernel's view of this machine's persistence domain: true if every region reports that CPU
// caches are part of it (eADR).
bool detect_eadr() noexcept;

}  // namespace scute::core::medium
