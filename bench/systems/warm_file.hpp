// SPDX-License-Identifier: BSD-3-Clause
// Files whose pages are all there, huge where there are any. CPU instructions write to them,
// wherever they are: on a file system where these do not persist, the numbers are those of a medium
// where they do.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>

#include "core/medium/persist.hpp"
#include "systems/mapped_file.hpp"
#include "systems/pmemobj_huge.hpp"

namespace scute::bench {

// A mapped file of which every page is there.
class warm_file {
 public:
  warm_file(const std::string& path, uint64_t size) : file_(path, size) {
    std::memset(file_.bytes(), 0, size);
    try {
      make_huge(file_.bytes(), size);
    } catch (const no_huge_pages&) {
      // grants_huge_pages() has said so.
    }
  }
  std::span<std::byte> bytes() const noexcept { return {file_.bytes(), file_.size()}; }

 private:
  mapped_file file_;
};

// Objects in such a file, for any number of threads. All go with it.
class warm_objects {
 public:
  warm_objects(const std::string& path, uint64_t size) : file_(path, size) {}
  std::pmr::memory_resource* resource() noexcept { return &objects_; }

 private:
  warm_file file_;
  std::pmr::monotonic_buffer_resource whole_{file_.bytes().data(), file_.bytes().size(),
                                             std::pmr::null_memory_resource()};
  std::pmr::synchronized_pool_resource objects_{&whole_};
};

// The write-back of a floor, or none where caches persist (eADR), which is emulated as in the ENTS
// paper: PMEM_NO_FLUSH=1 in the environment, which libpmemobj reads as well.
inline auto floor_flush() noexcept -> void (*)(const void*, size_t) noexcept {
  const char* const value = std::getenv("PMEM_NO_FLUSH");
  if (value != nullptr && std::strcmp(value, "1") == 0) return [](const void*, size_t) noexcept {};
  return core::medium::persist().flush;
}

}  // namespace scute::bench
