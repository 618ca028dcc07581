// SPDX-License-Identifier: BSD-3-Clause
// The allocator. A slot is allocated exactly when its header says so (docs/reference/format.md,
// "What is allocated"). The heap keeps only bitmaps, which it derives from the headers chunk by
// chunk on first use.
//
// HEAP-1 A slot is handed out only from a bitmap. It returns only after the header write that freed
//    it (or the abort of the transaction that wanted it) is durable. So no two transactions ever
//    have the same slot.
// HEAP-2 A chunk's bitmap is built before any transaction frees a slot of it, so that no free can
//    fall between the scan and its publication.
// HEAP-3 Before a chunk is put to another use, no lane's log can be replayed into it any more.
//
// Each lane allocates from chunks of its own, one per size class. So threads meet only when a chunk
// is used up or when they free into each other's chunks.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "core/heap/chunk_cache.hpp"
#include "core/heap/object.hpp"
#include "core/heap/size_classes.hpp"
#include "core/heap/step_engine.hpp"
#include "core/heap/zone_table.hpp"

namespace scute::core::heap {

class heap {
 public:
  heap(pool::state& s, step_engine& e);

  // Reserves room for `size` payload bytes; the slot's header says free until a transaction commits
  // otherwise. May make a durable step through l. Throws SCUTE_E_NOSPC.
  object reserve(pool::lane& l, uint64_t size);
  // Gives a slot or span back: after its free is durable, or after its transaction aborted.
  void release(const object& o) noexcept;
  // To be called when a transaction decides to free o (HEAP-2).
  void prepare_free(const object& o);
  // The file system had no blocks when chunks were last requested: it is full, and not the pool.
  bool lacks_blocks() const noexcept { return no_blocks_ != 0; }
  // Largest object that any zone could hold.
  uint64_t size_max() const noexcept;

  // Lends chunks to a log that overflows its lane. Their bytes count as zeros for parity. Throws
  // SCUTE_E_NOSPC with nothing lent.
  std::vector<uint64_t> lend(pool::lane& l, size_t n);
  // Bytes of an object that one transaction can certainly overwrite in one piece at present: bytes
  // that go through a log need free chunks for it.
  uint64_t overwrite_max();
  // Takes chunks back and removes them from the list, one by one. If it throws, the list has those
  // that could not be taken back.
  void take_back(pool::lane& l, std::vector<uint64_t>& chunk_offsets);
  // The same, except for chunks that stay lent for the next log (CCACHE-1).
  void cache_chunks(pool::lane& l, std::vector<uint64_t>& chunk_offsets);
  // Takes back what was cached, as far as there is memory to do so.
  void clear_chunk_cache(pool::lane& l) noexcept;
  // Number of chunks in the chunk cache now: lent, and as good as free.
  uint64_t cached_chunks();
  // These chunks are lent permanently, to a log that outlives sessions.
  void retain(std::vector<uint64_t> chunk_offsets);
  // Number of chunks that are lent now, cached ones included, retained ones not.
  uint64_t lent();
  // Frees the chunks that a crash left lent; recovery has overlaid them with zeros.
  void reclaim_lent(pool::lane& l);

  // Makes the pending steps durable (core/heap/pending_steps.hpp), as zone_table::make_pending()
  // does.
  void make_pending(pool::lane& l) { zones_.make_pending(l, engine_); }
  // The same if there are many more of them than a transaction with so many new objects should have
  // to take along.
  void make_excess(pool::lane& l, uint64_t objects) {
    if (zones_.is_excess(objects)) make_pending(l);
  }

  zone_table& zones() noexcept { return zones_; }
  // Slots in use of a run, from its bitmap; builds it if necessary.
  uint32_t used_slots(chunk_record& c);

 private:
  struct lane_cache {
    // By size class.
    std::vector<chunk_record*> active;
    std::vector<uint32_t> ahead;  // slots formatted at once the last time
  };

  static bool is_run(const chunk_record& c, int size_class) noexcept SCUTE_REQUIRES(c.mutex) {
    return c.kind.load(std::memory_order_relaxed) == use::run && c.size_class == size_class;
  }
  int pop_free(chunk_record& c) noexcept SCUTE_REQUIRES(c.mutex);
  chunk_record* refill(pool::lane& l, int size_class, chunk_record* old)
      SCUTE_EXCLUDES(zones_.chunk_mutex);
  void publish(chunk_record& c, uint32_t from) noexcept SCUTE_REQUIRES(zones_.chunk_mutex);
  bool grow(pool::lane& l, int size_class, chunk_record& c) SCUTE_REQUIRES(zones_.chunk_mutex);
  chunk_record* take(chunk_record* c) noexcept SCUTE_REQUIRES(zones_.chunk_mutex);
  chunk_record* take_listed(int size_class) SCUTE_REQUIRES(zones_.chunk_mutex);
  chunk_record* scan_some(pool::lane& l, int size_class, size_t how_many)
      SCUTE_REQUIRES(zones_.chunk_mutex);
  chunk_record* steal(pool::lane& l, int size_class) SCUTE_REQUIRES(zones_.chunk_mutex);
  void scan(chunk_record& c) SCUTE_REQUIRES(zones_.chunk_mutex);
  // Takes the first of n adjacent chunks that are free, in any zone; prepares their headers. Null
  // if there are none.
  chunk_record* take_chunks(pool::lane& l, uint32_t n) SCUTE_REQUIRES(zones_.chunk_mutex);
  // Takes one chunk for a log.
  chunk_record* take_last(pool::lane& l) SCUTE_REQUIRES(zones_.chunk_mutex);
  bool reclaim_empty_runs(pool::lane& l) SCUTE_REQUIRES(zones_.chunk_mutex);
  bool reclaim_chunk_cache(pool::lane& l) SCUTE_REQUIRES(zones_.chunk_mutex);
  void give_back(pool::lane& l, std::vector<uint64_t>& chunk_offsets)
      SCUTE_REQUIRES(zones_.chunk_mutex);
  void note_zone(uint64_t z) SCUTE_REQUIRES(zones_.chunk_mutex);
  enum class owner : uint8_t { this_session, previous_session };
  void zero(pool::lane& l, uint64_t chunk_offset, owner of) noexcept;
  void zero_free(pool::lane& l, chunk_record& c) SCUTE_REQUIRES(zones_.chunk_mutex);
  object reserve_span(pool::lane& l, uint64_t size);
  uint64_t free_chunks(uint64_t enough) SCUTE_REQUIRES(zones_.chunk_mutex);
  uint64_t log_room(uint64_t chunks) const noexcept;
  uint64_t empty_runs() SCUTE_REQUIRES(zones_.chunk_mutex);
  [[noreturn]] void full(uint64_t size) const;
  [[noreturn]] void disk_full(const std::string& what) const;
  [[noreturn]] void no_log(size_t n) SCUTE_REQUIRES(zones_.chunk_mutex);

  pool::state& s_;
  step_engine& engine_;
  size_classes classes_;
  zone_table zones_;
  std::vector<lane_cache> caches_;

  // Zones whose runs are in unscanned_.
  std::vector<bool> noted_ SCUTE_GUARDED_BY(zones_.chunk_mutex);
  // By size class.
  std::vector<std::vector<chunk_record*>> unscanned_ SCUTE_GUARDED_BY(zones_.chunk_mutex);
  chunk_cache chunk_cache_ SCUTE_GUARDED_BY(zones_.chunk_mutex);
  std::vector<uint64_t> retained_ SCUTE_GUARDED_BY(zones_.chunk_mutex);  // ascending
  std::atomic<uint64_t> span_max_;  // chunks of the largest span that could exist next to them
  std::atomic<int> no_blocks_{0};   // errno if the file system had none when last asked
  plain_mutex list_mutex_;          // taken after a chunk's lock
  // By size class.
  std::vector<std::vector<chunk_record*>> with_room_ SCUTE_GUARDED_BY(list_mutex_);
};

}  // namespace scute::core::heap
