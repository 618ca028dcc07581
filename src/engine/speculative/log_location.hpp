// SPDX-License-Identifier: BSD-3-Clause
// Where the log of engine `spec` lies: in chunks that the heap of the pool lends
// (engine/speculative/log_in_pool.hpp), or in a file beside the pool
// (engine/speculative/log_in_file.hpp). Offsets of segments and of the truncation point are those
// of target().
#pragma once

#include <vector>

#include "engine/speculative/segment_list.hpp"

namespace scute::core::engine {

class log_location {
 public:
  virtual ~log_location() = default;

  virtual medium::medium& target() const noexcept = 0;
  // It is another file than the pool's: fences of the pool do nothing for it, so it has writers of
  // its own. All lanes append to one stream there, because a sync that writes few pages is cheaper
  // than one that writes many.
  virtual bool is_apart() const noexcept = 0;

  // As it was found (TRUNC-2): nothing that counts can be in it.
  virtual bool was_closed() const noexcept = 0;
  // One of the two places of the truncation point (engine/speculative/truncation_point.hpp), in
  // this copy.
  virtual uint64_t truncation_at(uint64_t which, uint32_t copy) const noexcept = 0;
  virtual uint32_t truncation_copies() const noexcept = 0;

  // The list that counts. Throws failure(SCUTE_E_CORRUPT) if there is none that makes sense.
  virtual segment_list read() const = 0;
  // Durable when it returns (LIST-1 to LIST-3). At most chunks_max() chunks.
  virtual void write(medium::writer& w, segment_list& list) = 0;
  // What was found, of the list and of the truncation point, is durable where it is.
  virtual void keep(medium::writer& w, const segment_list& list) = 0;
  virtual size_t chunks_max() const noexcept = 0;
  // Where the list that counts has to be, in all copies, and its bytes there. Nobody writes one
  // meanwhile.
  struct list_copy {
    uint64_t offset;
    std::vector<std::byte> bytes;
  };
  virtual std::vector<list_copy> list_copies(const segment_list& list) const = 0;

  // So many more chunks for this list. Runs allocator steps in the lane. Throws SCUTE_E_NOSPC.
  virtual std::vector<uint64_t> lend(pool::lane& l, const segment_list& list, size_t chunks) = 0;
  // What stays lent; whatever else was listed before is nobody's.
  virtual void retain(const segment_list& list) = 0;
  // Of no list any more.
  virtual void take_back(pool::lane& l, std::vector<uint64_t>& chunks) = 0;

 protected:
  log_location() = default;
};

}  // namespace scute::core::engine
