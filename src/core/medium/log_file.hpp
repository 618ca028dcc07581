// SPDX-License-Identifier: BSD-3-Clause
// A medium for a file that is written piece by piece and read only when it is opened: the log of a
// pool on a disk (core/engine/speculative/log_file/log_in_file.hpp). It is not mapped: its
// addresses stand for offsets and must not be accessed. Streamed bytes stay in memory until a fence
// writes them with pwrite() and makes them durable with fdatasync(). All threads that fence at the
// same time share both (core/file/group_sync.hpp). A store to a mapped page that was just written
// back costs a fault and, by measurement, three times the sync of a pwrite() into it.
//
// STREAM-1 A fence returns when everything that its thread has streamed before is durable, or the
//    medium has failed. Overlapping pieces reach the file in the order in which they were streamed.
// STREAM-2 Nothing is written after a failure: a later sync may claim success for pages that the
//    failed one has lost.
// STREAM-3 Before any code depends on bytes it has read, refresh() drops the page cache. A process
//    whose sync has failed may have left bytes there that the device lacks, in pages that the
//    kernel marks clean.
// STREAM-4 All syncs of the open file go through group_, also those of its first zeros. The kernel
//    reports an error to only one of two concurrent syncs; the thread of the other would
//    acknowledge lost bytes.
#pragma once

#include <memory>

#include "base/locks/waiting.hpp"
#include "core/file/file_handle.hpp"
#include "core/file/group_sync.hpp"
#include "core/medium/medium.hpp"

namespace scute::core::medium {

class log_file final : public medium {
 public:
  // With access::read, streamed bytes are discarded. Otherwise throws SCUTE_E_NOSPC if this process
  // may not write to all of the file.
  log_file(file_handle file, access how);
  const char* flush_name() const noexcept override { return "fdatasync"; }

  bool read(uint64_t offset, void* to, size_t n) const noexcept override;
  void refresh() override;
  void lose_page(uint64_t, const std::byte*) noexcept override {}
  void revoke_page(uint64_t) noexcept override {}
  bool restore_page(writer&, uint64_t, const std::byte*) noexcept override { return false; }

  // Writes zeros to [from, to), so that no later write has to allocate blocks, and makes them
  // durable with the file's length. Throws SCUTE_E_NOSPC, SCUTE_E_IO. No thread may stream there
  // meanwhile.
  void write_zeros(uint64_t from, uint64_t to);
  // Makes the file longer by zeros, with blocks for them. Its length is durable with the next fence
  // of any thread that has streamed something. Throws SCUTE_E_NOSPC. No thread may stream there
  // meanwhile.
  void extend(uint64_t size);
  // Releases the bytes after `size`.
  void cut(uint64_t size) noexcept override;
  const std::string& path() const noexcept { return file_.path(); }
  int descriptor() const noexcept { return file_.fd(); }

 protected:
  void do_stream(writer& w, void* dst, const void* src, size_t n) noexcept override;
  void do_store(void* dst, const void* src, size_t n) noexcept override;
  void do_flush(writer& w, const void* p, size_t n) noexcept override;
  void do_fence(writer& w) noexcept override;

 private:
  // Pieces that are adjacent in the file. There are as many runs as log copies, and some more.
  struct run {
    uint64_t offset = 0, length = 0;
    std::unique_ptr<std::byte[]> bytes;
  };
  static constexpr size_t runs_max = 8, run_size = size_t{64} << 10;
  struct pieces {
    run runs[runs_max];
    size_t used = 0;
  };

  void keep(uint64_t offset, const std::byte* from, size_t n) noexcept SCUTE_REQUIRES(lock_);
  bool write_all(pieces& p) noexcept;
  bool write(uint64_t offset, const std::byte* from, size_t n) noexcept;
  void lead() noexcept;

  file_handle file_;
  group_sync group_;
  // Held for copies in memory and, if one finds no room, during the writes that make room.
  waiting_mutex lock_;
  pieces kept_[2];
  size_t current_ SCUTE_GUARDED_BY(lock_) = 0;  // the other one is written by the leader
  waiting_mutex writing_;                       // taken after lock_
};

}  // namespace scute::core::medium
