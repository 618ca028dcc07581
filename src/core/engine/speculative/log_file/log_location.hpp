// SPDX-License-Identifier: BSD-3-Clause
// Where the log of engine `spec` lies: in chunks that the heap of the pool lends
// (core/engine/speculative/log_file/log_in_pool.hpp), or in a file next to the pool
// (core/engine/speculative/log_file/log_in_file.hpp). Offsets of segments and of the truncation
// point are offsets in target().
#pragma once

#include <vector>

#include "core/engine/speculative/log_file/segment_list.hpp"

namespace scute::core::engine {

class log_location {
 public:
  virtual ~log_location() = default;

  virtual medium::medium& target() const noexcept = 0;
  // The log is in another file than the pool's. Fences of the pool do nothing for it, so it has
  // writers of its own. All lanes append to one stream there, because a sync that writes few pages
  // is cheaper than one that writes many.
  virtual bool is_apart() const noexcept = 0;

  // It was found closed (TRUNC-2): no frame in it counts.
  virtual bool was_closed() const noexcept = 0;
  // The offset of one of the two places of the truncation point
  // (core/engine/speculative/recovery/truncation_point.hpp), in this copy.
  virtual uint64_t truncation_at(uint64_t which, uint32_t copy) const noexcept = 0;
  virtual uint32_t truncation_copies() const noexcept = 0;

  // The list that counts. Throws failure(SCUTE_E_CORRUPT) if no list makes sense.
  virtual segment_list read() const = 0;
  // Writes the list: durably (LIST-1 to LIST-3), or a longer one durably by the fence that
  // acknowledges a frame in its chunks (LOGFILE-6). At most chunks_max() chunks.
  virtual void write(medium::writer& w, segment_list& list) = 0;
  // Makes the list and the truncation point that were found durable in their places.
  virtual void keep(medium::writer& w, const segment_list& list) = 0;
  virtual size_t chunks_max() const noexcept = 0;
  // As long as it has no more chunks than this, the log grows before a commit waits for a
  // checkpoint. 0: it never does.
  virtual size_t chunks_at_ease() const noexcept { return 0; }
  // Where the list that counts has to be, in all copies, and its bytes there. No thread writes a
  // list meanwhile.
  struct list_copy {
    uint64_t offset;
    std::vector<std::byte> bytes;
  };
  virtual std::vector<list_copy> list_copies(const segment_list& list) = 0;

  // Lends so many more chunks for this list, or more. Runs allocator steps in the lane. Throws
  // SCUTE_E_NOSPC.
  virtual std::vector<uint64_t> lend(pool::lane& l, const segment_list& list, size_t chunks) = 0;
  // The listed chunks stay lent; chunks that were listed before and are not now have no owner.
  virtual void retain(const segment_list& list) = 0;
  // Takes chunks back that are in no list any more.
  virtual void take_back(pool::lane& l, std::vector<uint64_t>& chunks) = 0;

 protected:
  log_location() = default;
};

}  // namespace scute::core::engine
